"""A protocol of your own: nudges to the front, harder and harder, three of each size."""

from pydantic import BaseModel, Field

from balance.studies.protocols.interface import Condition


class Nudges:
    """The largest nudge at the push body that is recovered every time."""

    class Config(BaseModel):
        """Its keys, for --set."""

        duration_s: float = Field(0.05, gt=0)

    def __init__(self, config, robot):
        self.config = config
        self.levels = tuple(0.05 * i * robot.mass for i in range(1, 11))  # N s

    def conditions(self):
        """What is tested, at which levels, in how many runs of each."""
        return [Condition("forwards", self.levels, runs=3, guess=2)]

    def experiment(self, condition, level, run):
        """Dotted keys of one run."""
        push = {"type": "half_sine", "direction": [1, 0.02 * run, 0], "time_s": 0.1}
        sizes = {"impulse_Ns": level, "duration_s": self.config.duration_s}
        return {"seed": run, "pushes": [{**push, **sizes}]}

    @staticmethod
    def measure(recording):
        """Numbers of a run, beside those of every summary."""
        return {"way_m": float(abs(recording.com_error[:, 0]).max())}

    def passed(self, rows):
        """Whether a level is withstood."""
        return all(row["outcome"] == "recovered" for row in rows)

    def report(self, findings):
        """A line for each condition."""
        return [{"nudge [N s]": one.margin and one.margin.value} for one in findings]
