"""Capturability: the largest push that any law could recover, from a robot's own numbers."""
