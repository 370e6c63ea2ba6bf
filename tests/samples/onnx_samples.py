"""Small networks in ONNX files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import helper, numpy_helper

FLOAT = onnx.TensorProto.FLOAT


def save_linear(file: Path, W: ArrayLike, b: ArrayLike, inputs: int = 1) -> Path:
    """action = observation W + b; of more ``inputs`` only the first counts."""
    rows = {"W": np.array(W, np.float32), "b": np.array(b, np.float32)}
    n, m = rows["W"].shape
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x0", "W", "b"], ["action"])],
        "linear",
        [helper.make_tensor_value_info(f"x{i}", FLOAT, [1, n]) for i in range(inputs)],
        [helper.make_tensor_value_info("action", FLOAT, [1, m])],
        [numpy_helper.from_array(value, name) for name, value in rows.items()],
    )
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), str(file))
    return file
