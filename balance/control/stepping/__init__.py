"""Push recovery by stepping, docs/stepping.md."""
