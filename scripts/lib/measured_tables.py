"""Tables of what a campaign has measured so far; they say how much of it there is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lib.measured_plan import (
    AROUND,
    DISTURBED,
    ENGINES,
    FEW,
    HALF_ROUND,
    OTHERS,
    ROBOTS,
    STARTS,
    cells,
    claims,
    elsewhere,
    half_round,
    period_s,
    target,
)
from lib.measured_runs import Case, Runs, limit_share, robot_named
from lib.tables import stamp, write_table

import balance

PAGE = "docs/capture.md"
SHARE_TARGET = {"toro": 0.85}  # of the recovery limit
SHARE_TARGET_OF_OTHERS = 0.8
IN_BOTH_ENGINES = ("momentum", "whole_body_qp")
Lines = list[list[str]]


@dataclass(frozen=True)
class Found:
    """Of a cell: the largest push below the first that was not recovered, and whether there is one.

    ``beyond`` are larger ones that were recovered all the same; None is a cell without a run.
    """

    value: float
    open_end: bool
    beyond: tuple[float, ...]

    def __str__(self) -> str:
        text = f"{'≥ ' if self.open_end else ''}{self.value:.2f}"
        return text + (
            f" (also {', '.join(f'{x:.2f}' for x in self.beyond)})" if self.beyond else ""
        )


def found(runs: Runs, cell: Case) -> Found | None:
    """What the runs of a cell say."""
    tried = runs.tried(cell)
    if not tried:
        return None
    first = min((size for size, good in tried.items() if not good), default=None)
    good = [size for size, fine in tried.items() if fine]
    value = max((size for size in good if first is None or size < first), default=0.0)
    return Found(value, first is None, tuple(size for size in good if size > value))


def _made(runs: Runs) -> str:
    """How a table was made, and of which runs."""
    return f"{stamp('scripts/measured_limits')} {runs.words()}"


def text(one: Found | None) -> str:
    """A cell of a table."""
    return "–" if one is None else str(one)


def count(done: int, of: int) -> str:
    """How much of a table there is."""
    return f"{done} of {of} cells measured."


def limit_tables(runs: Runs) -> None:
    """The limits of the capture law by direction, beside those of two others."""
    head = ["push to", "ankle limit [N s]", "recovery limit", "Pinocchio", "/ recovery limit",
            "MuJoCo", "/ recovery limit", "mirror image: Pinocchio, MuJoCo", "`momentum`",
            "`whole_body_qp`"]  # fmt: skip
    lines, done = _limit_lines(runs, "toro")
    stamped = _made(runs)
    of = 2 * len(half_round("toro"))
    write_table(PAGE, "envelope", head, lines, count(done, of), stamped)
    lines, done, of = [], 0, 0
    for robot in OTHERS:
        ours, number = _limit_lines(runs, robot)
        lines += [[robot, *line] for line in ours]
        done, of = done + number, of + 2 * len(half_round(robot))
    write_table(PAGE, "others", ["robot", *head], lines, count(done, of), stamped)


def _limit_lines(runs: Runs, robot: str) -> tuple[Lines, int]:
    lines, done = [], 0
    weakest: dict[str, list[float]] = {}
    for azimuth in half_round(robot):
        cell = Case(robot, "capture", azimuth, period_s=period_s(robot))
        share = limit_share(cell)
        ankle = balance.ankle_limit(robot_named(robot), cell.direction)
        line = [f"{azimuth:g}°", f"{ankle:.1f}", f"{share:.2f}"]
        for engine in ENGINES:
            one = found(runs, replace(cell, engine=engine))
            line += [text(one), "–" if one is None else f"{one.value / share:.2f}"]
            if one is not None:
                done += 1
                weakest.setdefault(engine, []).append(one.value)
                weakest.setdefault(f"{engine} share", []).append(one.value / share)
        opposite = replace(cell, azimuth_deg=360.0 - azimuth)
        line.append(_mirrored(runs, opposite))
        for law in ("momentum", "whole_body_qp"):
            one = found(runs, replace(cell, law=law))
            line.append(text(one))
            if one is not None:
                weakest.setdefault(law, []).append(one.value)
        lines.append(line)
    keys = ("pinocchio", "pinocchio share", "mujoco", "mujoco share", None, "momentum",
            "whole_body_qp")  # fmt: skip
    last = [f"**{min(weakest[key]):.2f}**" if key in weakest else "" for key in keys]
    return [*lines, ["weakest", "", "", *last]], done


def _mirrored(runs: Runs, cell: Case) -> str:
    if cell.azimuth_deg in (180.0, 360.0):
        return ""
    return ", ".join(text(found(runs, replace(cell, engine=engine))) for engine in ENGINES)


def figures_table(runs: Runs) -> None:
    """In how many cells the figures to reach are reached."""
    lines = []
    for robot in ROBOTS:
        wanted, share = target(robot), SHARE_TARGET.get(robot, SHARE_TARGET_OF_OTHERS)
        for engine in ENGINES:
            ones = []
            for cell in cells((robot,), "capture", (engine,), whole=True):
                one = found(runs, cell)
                if one is not None:
                    ones.append((one, limit_share(cell)))
            lines.append(
                [
                    robot, engine, f"{wanted:.2f}, {share:.2f}",
                    f"{sum(one.value >= wanted - 1e-9 for one, _ in ones)} of {len(ones)}",
                    f"{min(one.value for one, _ in ones):.2f}" if ones else "–",
                    f"{sum(one.value >= share * most for one, most in ones)} of {len(ones)}",
                    f"{min(one.value / most for one, most in ones):.2f}" if ones else "–",
                    str(sum(bool(one.beyond) for one, _ in ones)),
                ]
            )  # fmt: skip
    head = ["robot", "engine", "asked for, of ankle and recovery limit", "of the ankle limit",
            "weakest", "of the recovery limit", "weakest", "directions with a hole"]  # fmt: skip
    write_table(PAGE, "figures", head, lines, _made(runs))


def failure_table(runs: Runs) -> None:
    """Why the smallest push that is not recovered is not."""
    lines = []
    for robot in ROBOTS:
        kinds: Counter[str] = Counter()
        for cell in cells((robot,), "capture", whole=True):
            failed = [size for size, good in runs.tried(cell).items() if not good]
            if failed:
                row = runs.rows[replace(cell, fraction=min(failed))]
                kinds[_kind(str(row["cause"]))] += 1
        lines.append([robot, *(str(kinds.get(name, 0)) for name in KINDS)])
    write_table(PAGE, "failures", ["robot", *KINDS], lines, _made(runs))


KINDS: Mapping[str, str] = {
    "fell, its base tilted by over 60°": r"^the base tilted",
    "fell, its CoM out of the support": r"the CoM left the support",
    "fell, a sole slipped": r"slipped.*, then",
    "upright: slip": r"a sole slipped",
    "upright: a sole in the air": r"in the air",
    "upright: base or rate": r"rotation error|angular rate",
    "upright: a joint on its stop": r"stop",
    "upright: CoM": r"CoM",
    "bodies in each other": r"penetrat|deep|into",
    "other": r"",
}


def _kind(cause: str) -> str:
    return next(name for name, pattern in KINDS.items() if re.search(pattern, cause))


def disturbed_table(runs: Runs) -> None:
    """How many pushes of the ankle limit are recovered in spite of a disturbance."""
    rows: dict[str, dict[str, list[tuple[float, bool]]]] = {}
    for keys in DISTURBED:
        name = _disturbance(keys)
        for engine in ENGINES:
            for azimuth in AROUND:
                case = Case("toro", "capture", azimuth, 1.0, engine, **keys)  # type: ignore[arg-type]
                good = runs.recovered(case)
                if good is not None:
                    rows.setdefault(name, {}).setdefault(engine, []).append((azimuth, good))
    lines = []
    for name, by_engine in rows.items():
        line = [name]
        for engine in ENGINES:
            tried = by_engine.get(engine, [])
            lost = Counter(azimuth for azimuth, good in tried if not good)
            line.append(f"{sum(good for _, good in tried)} of {len(tried)}")
            line.append(", ".join(_times(azimuth, n) for azimuth, n in sorted(lost.items())))
        lines.append(line)
    head = ["disturbance", "Pinocchio: recovered", "not to", "MuJoCo: recovered", "not to"]
    write_table(PAGE, "disturbed", head, lines, _made(runs))


def _disturbance(keys: Mapping[str, object]) -> str:
    world = str(keys.get("world", ""))
    if world.startswith("sensors"):
        return world.replace("sensors", "default sensors and estimator") + ", 5 seeds"
    if "duration_s" in keys:
        return f"{1e3 * float(str(keys['duration_s'])):g} ms"
    return str(world or keys.get("place") or "20 ms, nothing disturbed")


def _times(azimuth: float, number: int) -> str:
    return f"{azimuth:g}°" + (f" ({number}×)" if number > 1 else "")


def world_table(runs: Runs) -> None:
    """What bodies and drives cost by direction."""
    names = {"neither": "neither", "bodies": "bodies", "drives": "drives", "": "both"}
    lines, done = [], 0
    for azimuth in HALF_ROUND["toro"]:
        base = Case("toro", "capture", azimuth)
        ones = [found(runs, replace(base, world=world)) for world in names]
        done += sum(one is not None for one in ones)
        lines.append([f"{azimuth:g}°", *map(text, ones)])
    head = ["push to", *names.values()]
    whole = count(done, 4 * len(HALF_ROUND["toro"]))
    write_table(PAGE, "world", head, lines, whole, _made(runs))


def elsewhere_table(runs: Runs) -> None:
    """Whether the capture law recovers what the momentum law does, at other places."""
    tally: dict[tuple[str, float, str], list[bool]] = {}
    most: dict[tuple[str, float, str], list[float]] = {}
    lost = []
    for cell in elsewhere():
        good = [size for size, fine in runs.tried(cell).items() if fine]
        ours = runs.tried(replace(cell, law="capture"))
        key = cell.place, cell.duration_s, cell.robot
        if good and ours:
            most.setdefault(key, []).append(max(good))
            held = ours.get(max(good), False)
            tally.setdefault(key, []).append(held)
            if not held:
                best = max((size for size, fine in ours.items() if fine), default=0.0)
                lost.append(
                    [cell.robot, cell.place, f"{1e3 * cell.duration_s:g} ms",
                     f"{cell.azimuth_deg:g}°", f"{max(good):.2f}", f"{best:.2f}",
                     str(runs.rows[replace(cell, law='capture', fraction=max(good))]["cause"])]
                )  # fmt: skip
    lines = []
    for place, duration in dict.fromkeys((cell.place, cell.duration_s) for cell in elsewhere()):
        line = [place, f"{1e3 * duration:g} ms"]
        for robot in ROBOTS:
            held = tally.get((place, duration, robot), [])
            sizes = most.get((place, duration, robot), [])
            line.append(f"{sum(held)} of {len(held)} (to {max(sizes):.1f})" if held else "–")
        lines.append(line)
    done = sum(map(len, tally.values()))
    note = count(done, len(list(elsewhere())))
    write_table(PAGE, "pushes", ["at", "lasting", *ROBOTS], lines, note, _made(runs))
    head = ["robot", "at", "lasting", "push to", "`momentum`", "`capture`", "why not more"]
    write_table(PAGE, "worse", head, lost or [["none", *[""] * 6]], _made(runs))


def step_table(runs: Runs) -> None:
    """Control steps of several lengths."""
    lines = []
    for robot in ROBOTS:
        for period in (0.001, 0.002, 0.004):
            ones = [
                found(runs, Case(robot, "capture", azimuth, period_s=period)) for azimuth in FEW
            ]
            if any(ones):
                lines.append([robot, f"{1e3 * period:g} ms", *map(text, ones)])
    head = ["robot", "control step", *(f"{azimuth:g}°" for azimuth in FEW)]
    write_table(PAGE, "steps", head, lines, _made(runs))


def claim_table(runs: Runs) -> None:
    """What is recovered where the law of version 0.1 was found wanting."""
    lines = []
    for cell in claims():
        one, tried = found(runs, cell), runs.tried(cell)
        failed = [size for size, good in tried.items() if not good]
        cause = str(runs.rows[replace(cell, fraction=min(failed))]["cause"]) if failed else ""
        lines.append(
            [cell.robot, cell.place, f"{cell.azimuth_deg:g}°", f"{limit_share(cell):.2f}",
             text(one), f"{sum(tried.values())} of {len(tried)}", cause]
        )  # fmt: skip
    head = ["robot", "at", "push to", "recovery limit", "recovered to", "of all sizes tried",
            "why not more"]  # fmt: skip
    write_table(PAGE, "claims", head, lines, _made(runs))


def law_table(runs: Runs) -> None:
    """All laws on all robots: mean and least limit over a few directions."""
    _laws_on_robots(runs, "laws", ENGINES[0], tuple(STARTS))
    _laws_on_robots(runs, "laws_mujoco", ENGINES[1], IN_BOTH_ENGINES)


def _laws_on_robots(runs: Runs, name: str, engine: str, others: tuple[str, ...]) -> None:
    lines, laws = [], ("capture", *others)
    for robot in ROBOTS:
        line = [f"`{robot}`"]
        line.append(_mean_and_least([limit_share(_at(robot, "capture", a)) for a in FEW]))
        for law in laws:
            ones = [replace(_at(robot, law, azimuth), engine=engine) for azimuth in FEW]
            known = [one.value for cell in ones if (one := found(runs, cell)) is not None]
            line.append(_mean_and_least(known) + ("" if len(known) in (0, len(FEW)) else
                        f" ({len(known)} directions)"))  # fmt: skip
        lines.append(line)
    head = ["robot", "recovery limit", *(f"`{law}`" for law in laws)]
    write_table("docs/robots.md", name, head, lines, _made(runs))


def _at(robot: str, law: str, azimuth: float) -> Case:
    return Case(robot, law, azimuth, period_s=period_s(robot))


def _mean_and_least(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.2f}, {min(values):.2f}" if values else "–"


def write_all(runs: Runs, only: Iterable[str] = ()) -> None:
    """All tables, or those named."""
    for name in only or TABLES:
        TABLES[name](runs)


TABLES = {
    "limits": limit_tables, "figures": figures_table, "failures": failure_table,
    "disturbed": disturbed_table, "world": world_table, "elsewhere": elsewhere_table,
    "steps": step_table, "laws": law_table, "claims": claim_table,
}  # fmt: skip
