"""A sequence of stances: which contacts bear when, and how a robot goes from one to the next."""
