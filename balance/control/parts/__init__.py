"""What the laws are made of."""
