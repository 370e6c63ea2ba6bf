"""Gains as frequency and damping ratio."""

from __future__ import annotations

import numpy as np
import pytest

import balance
from balance.app.live.gain_terms import GainTerms
from balance.robots import Robot


@pytest.fixture
def terms(toro: Robot) -> GainTerms:
    return GainTerms.of(balance.load_config("toro_push").controller.gains, toro)


def test_they_are_those_of_the_closed_loop_s_poles(terms: GainTerms, toro: Robot) -> None:
    """x'' + K_D x' + K_P / m x = 0 has the poles s with |s| = omega and cos(arg) = -zeta."""
    for axis in range(3):
        poles = np.roots([1.0, terms.raw[1, axis], terms.raw[0, axis] / toro.mass])
        omega = np.sqrt(np.abs(np.prod(poles)))
        zeta = -np.sum(poles).real / (2.0 * omega)
        assert terms.physical[0, axis] == pytest.approx(omega / (2.0 * np.pi))
        assert terms.physical[1, axis] == pytest.approx(zeta)


@pytest.mark.parametrize("kind", range(4))
def test_one_term_changes_and_the_others_stay(terms: GainTerms, kind: int) -> None:
    wanted = terms.physical
    wanted[kind, 1] *= 1.7
    changed = terms.with_physical(kind, 1, float(wanted[kind, 1]))
    np.testing.assert_allclose(changed.physical, wanted, rtol=1e-12)


def test_untouched_gains_are_written_as_they_were(terms: GainTerms) -> None:
    assert terms.gains() == balance.load_config("toro_push").controller.gains
    assert terms.with_raw(3, 2, 5.0).gains().D == (20.0, 20.0, 5.0)
