"""Improve a linear policy in the Gymnasium environment, by the cross-entropy method."""

import gymnasium
import numpy as np

import balance.app.gym  # noqa: F401  registers the environment

JOINTS = [f"{side}_{joint}_pitch" for joint in ("ankle", "hip") for side in ("left", "right")]
WORLD = {
    "robot": "toro",
    "duration_s": 1.6,
    "control_period_s": 0.002,
    "plant": {"step_s": 0.002, "joint_damping": 1.0},
    "mismatch": {"mass_scale": {"uniform": [0.95, 1.05]}},
    "pushes": [
        {
            "type": "half_sine",
            "impulse_Ns": {"uniform": [18.0, 22.0]},
            "direction": [1, 0, 0],
            "time_s": 0.1,
            "duration_s": 0.1,
        }
    ],
    "controller": {
        "law": "policy",
        "network": "none",
        "feedforward": True,
        "joints": JOINTS,
        "observe": ["gravity", "angular_velocity", "linear_velocity"],
        "act": {"scale": 0.5, "clip": 1.0},
    },
}
environment = gymnasium.make("balance/Push-v0", config=WORLD)
PITCH = [0, 4, 6]  # of what is observed: lean, its rate, and speed forwards


def worth(weights, seed):
    """Sum of the rewards of an episode; ankles and hips follow what is observed of the pitch."""
    observed, _ = environment.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        ankle, hip = np.clip(weights.reshape(2, 3) @ observed[PITCH], -1.0, 1.0)
        action = np.array([ankle, ankle, hip, hip], np.float32)
        observed, reward, terminated, truncated, _ = environment.step(action)
        total, over = total + reward, terminated or truncated
    return total


def tried(weights):
    """Mean over pushes that nothing was tuned on."""
    return np.mean([worth(weights, 1000 + i) for i in range(4)])


rng = np.random.default_rng(0)
mean, spread = np.zeros(6), np.full(6, 1.0)
print(f"before: {tried(mean):.2f}")
for generation in range(6):
    candidates = mean + spread * rng.standard_normal((8, 6))
    found = np.array([worth(one, seed=generation) for one in candidates])
    best = candidates[np.argsort(found)[-3:]]
    mean, spread = best.mean(axis=0), 0.8 * best.std(axis=0) + 0.1
print(f"after: {tried(mean):.2f}")
