"""Tables of docs/stepping.md; they say how much of them has been measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from lib.measured_plan import ENGINES
from lib.measured_runs import Case, Row, Runs, robot_named
from lib.measured_tables import Lines, count, found, limit_share, text
from lib.stepping_plan import (
    COARSE,
    DISTURBED_AZIMUTHS,
    LAW,
    ODD,
    ROBOTS,
    SEEDS,
    cell_of,
    side,
    target,
)
from lib.tables import stamp, write_block, write_table

import balance

PAGE, COMMAND = "docs/stepping.md", "scripts/stepping"
OWN_STEPS = 2
BOUNDS = {
    "hip_knee_speed": ("hips and knees, speed / rated", 1.3, max),
    "ankle_speed": ("ankles, speed / rated", 2.0, max),
    "torque_jump": ("torque step / limit", 0.2, max),
    "sole_gap_m": ("sole gap [m]", 0.02, min),
    "slip_m": ("slip [m]", 0.01, max),
}


def _write(page: str, mark: str, head: Sequence[str], lines: Lines, *notes: str) -> None:
    """A table, or that there is none yet."""
    if lines:
        write_table(page, mark, head, lines, *notes)
    else:
        write_block(page, mark, f"Not measured yet; `{COMMAND}` does.")


def azimuths(robot: str) -> list[float]:
    """The directions of a robot's table, degrees."""
    return sorted((*COARSE, *ODD)) if robot == "toro" else list(COARSE)


def wanted_table(runs: Runs) -> None:
    """Of the figures to reach how many are reached, and which are not, with why."""
    lines = []
    for robot in ROBOTS:
        for engine in ENGINES:
            cells = [
                replace(cell_of(robot, azimuth, engine), fraction=wanted)
                for azimuth in azimuths(robot)
                if (wanted := target(robot, azimuth)) is not None
            ]
            rows = [runs.rows[cell] for cell in cells if cell in runs.rows]
            missed = [row for row in rows if row["outcome"] != "recovered"]
            if rows:
                words = "; ".join(
                    f"{row['azimuth_deg']:g}° at {row['fraction']:g}: {row['cause']}"
                    for row in missed
                )
                reached = f"{len(rows) - len(missed)} of {len(rows)}"
                lines.append([robot, engine, reached, f"{len(rows)} of {len(cells)}", words])
    head = ["robot", "engine", "reached", "tried", "not"]
    _write(PAGE, "wanted", head, lines, f"{stamp(COMMAND)} {runs.words()}")


def limit_table(runs: Runs) -> None:
    """The largest push by robot and direction in both engines, beside limits and figures."""
    lines, done, of = [], 0, 0
    for robot in ROBOTS:
        for azimuth in azimuths(robot):
            cell = cell_of(robot, azimuth)
            wanted = target(robot, azimuth)
            ankle = balance.ankle_limit(robot_named(robot), cell.direction)
            ones = [found(runs, replace(cell, engine=engine)) for engine in ENGINES]
            of, done = of + len(ENGINES), done + sum(one is not None for one in ones)
            if not any(ones):
                continue
            with_step = balance.recovery_limit(robot_named(robot), cell.direction, 1)
            own = balance.recovery_limit(
                robot_named(robot), cell.direction, OWN_STEPS, gait=LAW
            ).fraction
            lines.append([
                robot, f"{azimuth:g}°", side(azimuth), f"{ankle:.1f}",
                "–" if wanted is None else f"{wanted:.1f}",
                *(_limit(runs, replace(cell, engine=engine)) for engine in ENGINES),
                _held(runs, cell, ones[0] and ones[0].value), f"{limit_share(cell):.2f}",
                f"{with_step.fraction:.2f}", f"{own:.2f}",
                ", ".join(f"{one.value / own:.2f}" if one and one.value else "–" for one in ones),
            ])  # fmt: skip
    head = ["robot", "push to", "", "ankle limit [N s]", "wanted", "Pinocchio", "MuJoCo",
            "steps at the limit", "recovery limit, no step", "with a step",
            "with two as the law plans them", "share of that"]  # fmt: skip
    write_table(PAGE, "limits", head, lines, count(done, of), stamp(COMMAND))


def _limit(runs: Runs, cell: Case) -> str:
    """The limit, or what it is below if nothing smaller was tried."""
    one, tried = found(runs, cell), runs.tried(cell)
    return f"< {min(tried):.2f}" if one is not None and one.value == 0.0 else text(one)


def _held(runs: Runs, cell: Case, size: float | None) -> str:
    row = runs.rows.get(replace(cell, fraction=size or 0.0))
    return "–" if row is None else str(row.get("strategy", "–"))


def strategy_table(runs: Runs) -> None:
    """The largest recovered push of each strategy, by direction, on `toro`."""
    names = ("ankles", "hips", "1 step", "2 steps", "3 steps", "4 steps", "more")
    lines = []
    for engine in ENGINES:
        for azimuth in azimuths("toro"):
            cell, most = cell_of("toro", azimuth, engine), dict[str, float]()
            for size, good in runs.tried(cell).items():
                if good:
                    words = str(runs.rows[replace(cell, fraction=size)].get("strategy"))
                    most[words if words in names else "more"] = size
            if most:
                cells = [f"{most[name]:.2f}" if name in most else "" for name in names]
                lines.append([engine, f"{azimuth:g}°", *cells])
    write_table(PAGE, "strategies", ["engine", "push to", *names], lines, stamp(COMMAND))


def capture_table(runs: Runs) -> None:
    """Cells in which `capture` recovers the first push that `stepping` does not, and holes."""
    lines = []
    for robot in ROBOTS:
        for engine in ENGINES:
            worse, tried, holes, cells = [], 0, [], 0
            for azimuth in azimuths(robot):
                cell = cell_of(robot, azimuth, engine)
                one = found(runs, cell)
                if one is None:
                    continue
                cells += one.value > 0.0 and not one.open_end
                if one.beyond:
                    holes.append(f"{azimuth:g}°")
                rows = runs.tried(replace(cell, law="capture"))
                tried += bool(rows)
                if any(good for size, good in rows.items() if size > one.value):
                    worse.append(f"{azimuth:g}°")
            if cells or tried:
                lines.append([robot, engine, f"{len(worse)} of {tried}", ", ".join(worse),
                              f"{len(holes)} of {cells}", ", ".join(holes)])  # fmt: skip
    head = ["robot", "engine", "`capture` goes further", "to", "directions with a hole", "to"]
    _write(PAGE, "capture", head, lines, stamp(COMMAND))


def measure_table(runs: Runs) -> None:
    """Joint speeds, torque steps, gaps and slips of all recovered runs with steps."""
    lines = []
    for robot in ROBOTS:
        for engine in ENGINES:
            rows = [
                row for case, row in runs.rows.items()
                if case.law == LAW and case.robot == robot and case.engine == engine
                and row["outcome"] == "recovered" and row.get("steps")
            ]  # fmt: skip
            if rows:
                lines.append([robot, engine, str(len(rows)), *_worst(rows)])
    head = ["robot", "engine", "runs", *(words for words, _, _ in BOUNDS.values())]
    note = "In each cell the worst run, and in brackets how many runs are within "
    note += ", ".join(f"{bound:g}" for _, bound, _ in BOUNDS.values()) + " as asked."
    write_table(PAGE, "measures", head, lines, note, stamp(COMMAND))


def _worst(rows: Sequence[Row]) -> list[str]:
    cells = []
    for key, (_, bound, worst) in BOUNDS.items():
        values = [float(row[key]) for row in rows]
        good = sum(v <= bound if worst is max else v >= bound for v in values)
        cells.append(f"{worst(values):.3g} ({good} of {len(values)})")
    return cells


def disturbed_table(runs: Runs) -> None:
    """Recovered by direction in spite of sensors, delay and a wrong mass."""
    lines, done, good = [], 0, 0
    for azimuth in DISTURBED_AZIMUTHS:
        rows = [
            row for case, row in runs.rows.items()
            if case.law == LAW and case.world == "sensors, delay, mass"
            and case.azimuth_deg == azimuth
        ]  # fmt: skip
        if not rows:
            continue
        fine = sum(row["outcome"] == "recovered" for row in rows)
        done, good = done + len(rows), good + fine
        causes = Counter(row["outcome"] for row in rows if row["outcome"] != "recovered")
        said = ", ".join(f"{n} {name}" for name, n in causes.items())
        size = f"{rows[0]['fraction']:.2f}"
        lines.append([f"{azimuth:g}°", size, f"{fine} of {len(rows)}", said])
    share = f"{100 * good / done:.0f} % recovered; " if done else ""
    note = share + f"{done} of {len(DISTURBED_AZIMUTHS) * SEEDS} runs made."
    head = ["push to", "of the ankle limit", "recovered", "others"]
    _write(PAGE, "disturbed", head, lines, note, stamp(COMMAND))


def train_table(rows: Sequence[Row]) -> None:
    """Trains of pushes."""
    lines = [
        [row["engine"], str(row["number"]), row["outcome"], str(row["cause"] or ""),
         f"{row['time_s']:.0f}", str(row["steps"]), f"{row['largest']:.2f}"]
        for row in rows
    ]  # fmt: skip
    head = [
        "engine",
        "train",
        "outcome",
        "cause",
        "time [s]",
        "steps",
        "largest push / ankle limit",
    ]
    _write(PAGE, "train", head, lines, stamp(COMMAND))
