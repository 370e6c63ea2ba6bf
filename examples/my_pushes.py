"""A push of your own: a shove that grows steadily and ends at once."""

from pydantic import BaseModel, Field


class Shove:
    """A force that grows in proportion to time."""

    class Config(BaseModel):
        """Its keys, beside those that every push has: body, point_m, direction, axes, time_s."""

        impulse_Ns: float = Field(gt=0)
        duration_s: float = Field(gt=0)

    def __init__(self, config, robot):
        self.impulse, self.duration = config.impulse_Ns, config.duration_s

    def delivered(self, share):
        """The share of the impulse delivered after a share of the duration: F ~ t, so p ~ t^2."""
        return share**2
