"""Every figure of ``summary.json``, one entry each, in its order.

An entry says how the figure is computed from a recording, and drives the summary, the table in the
terminal, the table and the figure of a comparison, what can be swept and tuned and which way, the
reports of studies, and a table of the docs.  The name of the function is its key.  Of a robot that
fell, ``recording`` is what was recorded before the fall began, except where ``whole`` says so: on
the way down everything is large.
"""

from __future__ import annotations

from balance.config.quantity import Quantity
from balance.recordings.quantities import contact, effort, motion, phases

QUANTITIES = tuple(
    entry
    for module in (motion, contact, effort, phases)
    for entry in vars(module).values()
    if isinstance(entry, Quantity)
)
