"""The closed loop near its standing posture: its linear model, modes, margins and answers."""
