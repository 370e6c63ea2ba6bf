"""A quantity of your own: how far the CoM swayed sideways, from one side to the other."""

import numpy as np

import balance


@balance.quantity("CoM, sway from side to side", "mm", digits=1, scale=1e3, better="lower")
def sway(recording):
    """Metres; tables and figures show millimetres."""
    return float(np.ptp(recording.com_error[:, 1]))
