"""The simulated world: plants, drives, sensors, ground, pushes and what breaks."""
