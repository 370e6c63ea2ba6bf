"""The largest push to the front from which a law of your own recovers, by bisection."""

from pathlib import Path

import balance

EXPERIMENT = balance.load_config(Path(__file__).parent / "joint_pd.yaml", {"duration_s": 2.5})


def recovers(impulse_Ns):
    """Whether the robot stands still again after a push of this size."""
    recording = balance.run(EXPERIMENT, overrides={"pushes.0.impulse_Ns": impulse_Ns})
    return recording.summary()["outcome"] == "recovered"


low, high = 0.0, 40.0
for _ in range(4):
    middle = 0.5 * (low + high)
    low, high = (middle, high) if recovers(middle) else (low, middle)
print(f"it recovers from {low:.3g} N s, and not from {high:.3g} N s")
