"""Small studies, as fixtures."""

from study_samples import short, sweep_file

__all__ = ["short", "sweep_file"]
