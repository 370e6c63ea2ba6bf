"""Tuning: many trials of numbers in a config, each judged by the same pushes."""
