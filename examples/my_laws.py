"""A law of your own: a spring and a damper on every joint, scaled with the joint's torque limit."""

from pydantic import BaseModel, Field


class JointPD:
    """Holds the nominal posture, and knows nothing of balance."""

    class Config(BaseModel):
        """Its keys in the YAML file: of the torque limit, per rad and per rad/s."""

        kp: float = Field(30.0, gt=0)
        kd: float = Field(0.1, ge=0)  # much more chatters at 1 kHz

    def __init__(self, config, robot):
        self.law = config.controller
        self.posture, self.limits = robot.q_nominal[7:], robot.effort_limits

    def step(self, q, v, t):
        """Joint torques in N m; q and v begin with the base, which no motor moves."""
        error = self.posture - q[7:]
        return self.limits * (self.law.kp * error - self.law.kd * v[6:])
