"""The shapes of a robot's bodies, and which of them are near each other, a plate or the floor."""
