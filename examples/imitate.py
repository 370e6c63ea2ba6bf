"""Fit a network to the momentum law, and let it take the paper's push in the law's place."""

import numpy as np
import onnx
import pinocchio as pin
from onnx import helper, numpy_helper

import balance
from balance.control.policy import PolicyController

FILE = "imitation.onnx"
rng = np.random.default_rng(0)
law = balance.load_config("toro_push", {"duration_s": 2.0, "control_period_s": 0.002})
policy = balance.load_config("toro_push", {"controller": {"law": "policy", "network": "none"}})
robot = balance.load_robot("toro")
teacher = balance.make_controller(law, robot)
pupil = PolicyController(policy, robot, actor=np.zeros_like)  # for its maps alone
seen, done = [], []


def show(q, v):
    """What the pupil sees in a state, and the action that is what the teacher does there."""
    seen.append(pupil.observation.add(q, v, 0.0))
    done.append(pupil.action_for(q, v, teacher.step(q, v, 0.0).torques))


for angle in np.arange(0.0, 2.0 * np.pi, np.pi / 3.0):  # pushes around the robot
    push = {"type": "half_sine", "duration_s": 0.1, "time_s": 0.1, "impulse_Ns": 10.0}
    push["direction"] = [float(np.cos(angle)), float(np.sin(angle)), 0.0]
    recording = balance.run(law, overrides={"pushes": [push], "reference": None})
    for q, v in zip(recording.q[::10], recording.v[::10], strict=True):
        show(q, v)  # and a state near it, so that errors are unlearnt before they grow
        off = np.concatenate([np.zeros(3), 0.02 * rng.standard_normal(robot.model.nv - 3)])
        show(pin.integrate(robot.model, q, off), v + 0.1 * rng.standard_normal(robot.model.nv))

inputs, outputs = np.c_[np.array(seen), np.ones(len(seen))], np.array(done)
spread = np.maximum(inputs.std(axis=0), 1e-6)
spread[-1] = 1.0
scaled = inputs / spread
ridge = 1e-4 * len(inputs) * np.eye(len(spread))
weights = np.linalg.solve(scaled.T @ scaled + ridge, scaled.T @ outputs) / spread[:, None]
rows = {"W": weights[:-1].astype(np.float32), "b": weights[-1].astype(np.float32)}
floats = onnx.TensorProto.FLOAT
graph = helper.make_graph(
    [helper.make_node("Gemm", ["observation", "W", "b"], ["action"])],
    "imitation",
    [helper.make_tensor_value_info("observation", floats, [1, rows["W"].shape[0]])],
    [helper.make_tensor_value_info("action", floats, [1, rows["W"].shape[1]])],
    [numpy_helper.from_array(value, name) for name, value in rows.items()],
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), FILE)
pushed = balance.run(policy, overrides={"controller.network": FILE, "duration_s": 5.0}).summary()
print(f"{pushed['outcome']}: the CoM moved by {1000 * pushed['peak_com_error_m']:.0f} mm")
