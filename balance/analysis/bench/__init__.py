"""How fast things are, as ratios within one run: ``balance bench``."""
