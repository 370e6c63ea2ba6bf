"""Runs of a campaign that are repeated, drawn at random: does the code that is there end them so?

A table stands for the code that it was made with.  What came after, if it was to change no result,
is held against a sample of its runs.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from lib.kept_runs import Row, Runs, case_of, code_hash
from lib.measured_runs import simulate
from lib.tables import stamp, write_table

MARK, SEED = "again", 21


def repeat(runs: Runs, number: int, workers: int, page: str, command: str) -> None:
    """Run so many of all runs anew, and write on a page how many of each law ended alike."""
    rows = list(runs.rows.values())
    order = np.random.default_rng(SEED).permutation(len(rows))[:number]
    drawn = [rows[i] for i in order]
    with ProcessPoolExecutor(workers) as pool:
        anew = list(pool.map(simulate, map(case_of, drawn)))
    laws = sorted({row["law"] for row in drawn})
    codes = sorted({row["code"] for row in drawn})
    write_table(
        page, MARK, ["law", "repeated", "recovered as before", "in the same way", "not"],
        [compared(law, drawn, anew) for law in laws],
        f"{stamp(f'{command} --again')} Runs of code {' and '.join(codes)}, repeated "
        f"with {' and '.join(sorted({code_hash(law) for law in laws}))}.",
    )  # fmt: skip


def compared(law: str, drawn: list[Row], anew: list[Row]) -> list[object]:
    """The table's line of a law: how many of its runs ended alike anew, and those that did not."""
    pairs = [(old, new) for old, new in zip(drawn, anew, strict=True) if old["law"] == law]
    found: Counter[str] = Counter()
    others = []
    for old, new in pairs:
        alike = (old["outcome"] == "recovered") == (new["outcome"] == "recovered")
        found["alike"] += alike
        found["same"] += (old["outcome"], old["cause"]) == (new["outcome"], new["cause"])
        if not alike:
            what = [f"{old['robot']} {old['azimuth_deg']:g}° at {old['fraction']:.2f}"]
            what += [old[key] for key in ("engine", "place", "world") if old[key]]
            others.append(f"{', '.join(what)}: {old['outcome']}, now {new['outcome']}")
    return [law, len(pairs), found["alike"], found["same"], "; ".join(others)]
