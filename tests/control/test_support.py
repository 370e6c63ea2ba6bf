"""What a law sees of a state is had from the evaluation alone, and cannot be changed by the law."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import law_samples
import numpy as np
import pytest
from law_samples import law_config, moved
from numpy.typing import NDArray

import balance
from balance.control.capture import CaptureController
from balance.control.parts.support import Support, SupportView
from balance.control.parts.whole_body import BodyView, WholeBody
from balance.robots import Robot

Array = NDArray[np.float64]

PACKAGE = Path(balance.__file__).parent
LAWS_PAGE = (Path(__file__).resolve().parents[2] / "docs" / "laws.md").read_text(encoding="utf-8")
FIXED = {"data", "mass", "model"}  # of a view, what no state changes


def arrays(view: SupportView) -> dict[str, Array]:
    """All arrays of a view that it owns; ``q`` and ``v`` are the caller's."""
    names = {name for kind in type(view).__mro__ for name in getattr(kind, "__slots__", ())}
    found = {name: getattr(view, name) for name in names if not name.startswith("_")}
    return {n: a for n, a in found.items() if isinstance(a, np.ndarray) and n not in ("q", "v")}


@pytest.mark.parametrize("kind", [Support, WholeBody])
def test_a_law_cannot_write_to_what_it_sees(toro: Robot, kind: Callable[[Robot], Support]) -> None:
    here = kind(toro).at(toro.q_nominal, np.zeros(toro.model.nv))
    seen = arrays(here)
    assert set(seen) >= {"com", "momentum", "A", "G", "J_c"}
    assert isinstance(here, BodyView) == (set(seen) >= {"M", "bias", "drift", "momentum_drift"})
    for name, array in seen.items():
        with pytest.raises(ValueError, match="read-only"):
            array += 1.0
        assert not array.flags.writeable, name


@pytest.mark.parametrize("kind", [Support, WholeBody])
def test_nothing_of_a_state_is_had_without_one(
    toro: Robot, kind: Callable[[Robot], Support]
) -> None:
    support = kind(toro)
    for name in {*SupportView.__slots__, *BodyView.__slots__} - FIXED:
        assert name.startswith("_") or not hasattr(support, name)


def test_a_view_shows_the_last_state_without_making_new_arrays(toro: Robot) -> None:
    body, rng = WholeBody(toro), np.random.default_rng(5)
    first = body.at(*moved(toro, 0.1, rng))
    before = {name: (array, array.copy()) for name, array in arrays(first).items()}
    q, v = moved(toro, 0.1, rng)
    second = body.at(q, v)
    assert second.q is q and second.v is v
    fresh = arrays(WholeBody(toro).at(q, v))
    for name, (array, old) in before.items():
        assert getattr(second, name) is array
        assert not np.array_equal(array, old)
        np.testing.assert_array_equal(array, fresh[name])


def test_the_capture_law_has_a_bias_of_its_own(toro: Robot) -> None:
    friction = 1.5
    config = law_config("capture", controller__joint_friction=friction)
    controller = CaptureController(config, toro)
    q, v = moved(toro, 0.1, np.random.default_rng(6))
    here = controller.body.at(q, v)
    plain = here.bias.copy()
    bias = controller.equations(here).bias
    np.testing.assert_array_equal(here.bias, plain)
    np.testing.assert_array_equal(bias[:6], plain[:6])
    np.testing.assert_array_equal(bias[6:], plain[6:] + friction * v[6:])


STEP = """
import sys
from pathlib import Path
import numpy as np
from law_samples import law
import balance
from balance.robots import load_robot

package, run = Path(balance.__file__).parent, set()
toro = load_robot("toro")
controller = law("momentum", toro)

def note(frame, event, _):
    path = Path(frame.f_code.co_filename)
    if event == "call" and path.is_relative_to(package / "control"):
        run.add(path.relative_to(package).as_posix())

sys.setprofile(note)
output = controller.step(toro.q_nominal, np.zeros(toro.model.nv), 0.0)
sys.setprofile(None)
assert not len(output.active)  # the even share is in the cones: no solver
print(*sorted(run))
"""


def test_a_step_of_the_momentum_law_is_read_in_nine_files() -> None:
    """Those of the room ``control`` that it runs through are the ones that docs/laws.md lists.

    Nothing is compiled here: what a compiled function calls, Python does not see.
    """
    paths = [str(PACKAGE.parent), str(Path(law_samples.__file__).parent)]
    plain = os.environ | {"BALANCE_COMPILED": "0", "PYTHONPATH": os.pathsep.join(paths)}
    words = [sys.executable, "-c", STEP]
    run = subprocess.run(words, env=plain, capture_output=True, text=True, check=True).stdout
    section = LAWS_PAGE.partition("## One step of")[2].partition("\n## ")[0]
    listed = [line.split("`")[1] for line in section.splitlines() if line[:1].isdigit()]
    assert len(listed) <= 9
    assert set(run.split()) == set(listed)
