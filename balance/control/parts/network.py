"""A trained network in an ONNX file, run by onnxruntime (extra ``policy``)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.errors import ConfigError, MissingExtraError

Array = NDArray[np.float64]
Actor = Callable[[Array], Array]
"""From an observation to an action."""

KEY = "controller.network"
_TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64}
_QUIET = 4  # onnxruntime's own lines would stand beside our sentence


class Network:
    """One input, the observation; one output, the action; each a vector, or one row of many.

    It is run on one thread, so that the same numbers come out wherever it runs.
    """

    def __init__(self, file: str, observed: str, size: int, joints: int) -> None:
        """``observed`` says in words what the ``size`` numbers of the observation are."""
        self._where = f"'{KEY}' = '{file}'"
        if not Path(file).is_file():
            raise ConfigError(f"{self._where}: the file does not exist; check the path")
        self._session = self._loaded(file)
        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        for what, found in (("input", inputs), ("output", outputs)):
            if len(found) != 1:
                names = ", ".join(one.name for one in found)
                raise ConfigError(
                    f"{self._where}: it has {len(found)} {what}s ({names}); a policy has one"
                )
        asked = inputs[0]
        if asked.type not in _TYPES or outputs[0].type not in _TYPES:
            raise ConfigError(
                f"{self._where}: it maps {asked.type} to {outputs[0].type}; a policy maps floats "
                "to floats"
            )
        self._type, self._name = _TYPES[asked.type], asked.name
        self._shape = (1,) * (len(asked.shape) - 1) + (size,)
        wanted = asked.shape[-1] if asked.shape else None
        if isinstance(wanted, int) and wanted != size:
            raise ConfigError(
                f"{self._where}: it takes {wanted} numbers, and 'controller.observe' gives {size}: "
                f"{observed}"
            )
        try:
            given = self(np.zeros(size)).size
        except Exception as error:  # noqa: BLE001  onnxruntime has no base of its own
            raise ConfigError(
                f"{self._where}: it cannot take an observation of shape {self._shape} "
                f"({observed}): {_first_line(error)}"
            ) from None
        if given != joints:
            raise ConfigError(
                f"{self._where}: it gives {given} numbers, and 'controller.joints' has {joints} "
                "joints; name the joints that it moves, in its order"
            )

    def _loaded(self, file: str) -> Any:
        try:
            import onnxruntime
        except ModuleNotFoundError:
            raise MissingExtraError("onnxruntime", "policy") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _QUIET
        try:
            return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001  onnxruntime has no base of its own
            raise ConfigError(
                f"{self._where}: it cannot be read as an ONNX network: {_first_line(error)}"
            ) from None

    def __call__(self, observation: Array) -> Array:
        """The action, flat, for an observation."""
        given = observation.astype(self._type).reshape(self._shape)
        return np.asarray(self._session.run(None, {self._name: given})[0], dtype=float).ravel()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
