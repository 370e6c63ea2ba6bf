"""Analyses beside the simulation: linearised loops, the papers' identities, benchmarks."""
