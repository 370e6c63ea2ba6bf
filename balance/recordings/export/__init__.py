"""A recording in the formats of other programs: ``balance export RESULT --to FORMAT``."""

from balance.recordings.export.formats import FORMATS, Format, export

__all__ = ["FORMATS", "Format", "export"]
