"""The live lab: a page on loopback where a person pushes the robot; physics in its own process."""
