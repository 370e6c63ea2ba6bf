"""An engine of your own: the robot as a point mass that slides on the plane z = 0."""

import numpy as np

GRAVITY = 9.81


class PointMass:
    """Pushes move it, Coulomb friction stops it; joints and orientation stay as they are."""

    def __init__(self, config, robot, ground=None):
        self.dt, self.time = config.step_s, 0.0
        self.q, self.v = robot.q_nominal.copy(), np.zeros(robot.model.nv)
        self.mass, self.friction = robot.mass, config.friction
        self.contact_wrenches = np.zeros((len(robot.soles), 6))
        self.joint_damping = np.zeros(robot.model.nv - 6)

    def set_friction(self, surface, friction):
        """Change the friction coefficient."""
        self.friction = friction

    def reset(self, q, v):
        """Start again at time zero from a state."""
        self.q, self.v, self.time = q.copy(), v.copy(), 0.0

    def step(self, torques, impulses=()):
        """Advance by dt: momentum, the impulses, and friction that at most stops it."""
        pushed = self.mass * self.v[:2] + sum(impulse.vector[:2] for impulse in impulses)
        most = self.friction * self.mass * GRAVITY * self.dt
        brake = -pushed * min(1.0, most / max(np.linalg.norm(pushed), 1e-12))
        self.v[:2] = (pushed + brake) / self.mass
        self.q[:2] += self.dt * self.v[:2]
        self.contact_wrenches[:, :2] = brake / self.dt / len(self.contact_wrenches)
        self.contact_wrenches[:, 2] = self.mass * GRAVITY / len(self.contact_wrenches)
        self.time += self.dt
