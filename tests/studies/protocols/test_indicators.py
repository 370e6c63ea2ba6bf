"""Indicators: published check values, and signals whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from balance.studies.protocols.indicators import (
    HUMAN_COM_M,
    HUMAN_MASS_KG,
    Response,
    absorbed,
    factors,
    half_peak_to_peak,
    impedance,
    recovery_time,
    response,
    robocup_score,
    rope_drop,
    sway,
)


def test_the_medium_human_adds_up() -> None:
    assert pytest.approx(81.4) == HUMAN_MASS_KG
    assert pytest.approx(1.0028, abs=5e-5) == HUMAN_COM_M


def test_the_published_check_values_come_out() -> None:
    found = factors(26.0, 0.13, 0.41, "frontal")
    assert found.force == pytest.approx(0.91497, abs=5e-6)
    assert 135.56 / found.force == pytest.approx(148.158, abs=1e-3)
    assert found.energy == pytest.approx(1.0491, abs=5e-5)
    assert found.displacement == pytest.approx(0.41 / 1.0028, rel=1e-4)


def test_a_human_counts_as_a_human() -> None:
    for side, half in (("frontal", 0.111), ("lateral", 0.1665)):
        found = factors(HUMAN_MASS_KG, half, HUMAN_COM_M, side)
        values = (found.force, found.energy, found.displacement)
        np.testing.assert_allclose(values, 1.0, rtol=1e-12)


def test_absorbed_energy_is_what_neither_came_back_nor_rubbed_off() -> None:
    taken, share = absorbed(20.0, 5.0, 2.0)
    assert taken == pytest.approx(13.0)
    assert share == pytest.approx(13.0 / 18.0)


def test_an_oscillator_is_found_from_its_responses() -> None:
    """Mass 12 kg, damper 40 N s/m, spring 900 N/m, sampled at 1 kHz."""
    found = []
    for hz in (0.5, 1.0, 2.0):
        omega, time = 2.0 * math.pi * hz, np.arange(0.0, 1.0 / hz, 1e-3)
        way = 0.02 * np.sin(omega * time) + 0.01
        force = (900.0 - 12.0 * omega**2) * way + 40.0 * 0.02 * omega * np.cos(omega * time)
        found.append(response(way, force, 1e-3, hz))
        assert found[-1].damping == pytest.approx(40.0, rel=1e-3)
    inertia, damping, stiffness = impedance(found)
    assert inertia == pytest.approx(12.0, rel=1e-3)
    assert damping == pytest.approx(40.0, rel=1e-3)
    assert stiffness == pytest.approx(900.0, rel=1e-3)


def test_at_one_frequency_inertia_and_stiffness_are_not_told_apart() -> None:
    inertia, damping, stiffness = impedance([Response(6.0, 100.0, 5.0)])
    assert math.isnan(inertia)
    assert math.isnan(stiffness)
    assert damping == 5.0


def test_amplitude_is_half_of_peak_to_peak() -> None:
    assert half_peak_to_peak(3.0 * np.sin(np.linspace(0.0, 20.0, 9999)) + 7.0) == pytest.approx(
        3.0, rel=1e-4
    )


def test_sway_and_recovery_time_of_a_known_lean() -> None:
    time = np.arange(0.0, 4.0, 0.005)
    lean = 0.1 * np.exp(-3.0 * time)
    com = np.column_stack([np.sin(lean), np.zeros_like(lean), np.cos(lean)])
    angle = sway(com, np.zeros(3), np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(angle, lean, atol=1e-12)
    # The rate 0.3 exp(-3 t) falls below 0.02 at ln(15) / 3.
    assert recovery_time(angle, time, 0.2, 0.02) == pytest.approx(math.log(15) / 3 - 0.2, abs=0.01)
    assert math.isnan(recovery_time(time, time, 0.0, 0.02))


def test_the_bottle_of_robocup() -> None:
    assert rope_drop(1.5, 0.9) == pytest.approx(0.3)
    assert robocup_score(0.3, 3.0, 0.5, 0.5, 20.0) == pytest.approx(
        math.sqrt(0.3) / 0.5 * 3.0 / 20.0
    )
