"""Protocols: written tests that every law and robot is put through, and the scoreboard."""
