"""``balance limit``."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import balance
from balance.analysis.limits.table import limit_table, limits_to
from balance.app.cli import app
from balance.app.cli.limit import azimuths_of, printed
from balance.errors import InputError


def test_limits_are_printed_drawn_and_written(tmp_path: Path) -> None:
    out = tmp_path / "limit"
    arguments = ["limit", "toro", "--steps", "1", "--directions", "0,90", "--out", str(out)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert {path.name for path in out.iterdir()} == {"limit.json", "limit.png"}
    tree = json.loads((out / "limit.json").read_text(encoding="utf-8"))
    forwards = tree["directions"][0]
    expected = balance.recovery_limit(balance.load_robot("toro"), [1.0, 0.0])
    assert forwards["limits"][0]["impulse_Ns"] == expected.impulse_Ns
    assert re.search(rf"23\.7 .* {expected.impulse_Ns:.1f}, {expected.fraction:.2f}", result.output)


def test_directions_are_a_number_or_azimuths() -> None:
    assert azimuths_of("4") == [0.0, 90.0, 180.0, 270.0]
    assert azimuths_of("-45, 30.5") == [-45.0, 30.5]


@pytest.mark.parametrize("text", ["", "0", "361", "x", "1,x", "nan,3", "400.5,1", "99999999999"])
def test_other_directions_are_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="give a whole number from 1 to 360"):
        azimuths_of(text)


def test_the_table_fits_sixty_columns_and_loses_no_number() -> None:
    robot = balance.load_robot("toro")
    found = limit_table(robot, limits_to(robot, [22.5], 2))
    narrow = Console(width=60, record=True, file=StringIO())
    narrow.print(printed(found, 60))
    text = narrow.export_text()
    assert max(map(len, text.splitlines())) <= 60
    (one,) = found.directions
    numbers = ["22.5", f"{one.ankle_limit_Ns:.1f}", *(f"{x.impulse_Ns:.1f}," for x in one.limits)]
    for number in (*numbers, *(f"{x.fraction:.2f}" for x in one.limits), one.limits[0].binding[0]):
        assert number in text, number
    assert "…" not in text
