"""The scoreboard: one small file for each entry, checked when it is read, and who ranks where."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from balance.config import LAWS
from balance.config.user_code import shown_name
from balance.errors import FileError
from balance.recordings.atomic_writes import write_atomically
from balance.recordings.provenance import provenance
from balance.studies.protocols.balance_v1 import (
    FROZEN,
    HASH,
    BalanceV1,
    Score,
    all_cells,
    groups,
    score,
    steps_taken,
)
from balance.studies.protocols.study import Entrant, ProtocolStudy

FORMAT = 1
FOLDER = Path("results") / "scoreboard"
CHECKSUM = "checksum"
VERSIONS = ("balance", "commit", "pin", "mujoco", "numpy", "python")
NEEDED = {
    "law": str, "law_hash": str, "robot": str, "engine": str, "versions": dict, "changes": dict,
    "errors": int, "steps": int, "recovery_share": float | None, "cells": dict,
}  # fmt: skip
"""Keys that the page is made of, and what they hold."""
DIGITS = 4


@dataclass(frozen=True)
class Entry:
    """A law on a robot in an engine: what each cell's limits are, by seed."""

    path: Path
    tree: Mapping[str, Any]

    @property
    def law(self) -> str:
        """Its name."""
        return str(self.tree["law"])

    @property
    def robot(self) -> str:
        """Its name."""
        return str(self.tree["robot"])

    @property
    def engine(self) -> str:
        """Its name."""
        return str(self.tree["engine"])

    @property
    def limits(self) -> dict[str, list[float]]:
        """By cell and seed."""
        return {name: list(values) for name, values in self.tree["cells"].items()}

    @property
    def partial(self) -> bool:
        """Whether cells are missing."""
        return len(self.limits) < len(all_cells())

    @property
    def ranked(self) -> bool:
        """Whether it is whole, its world that of all others, and every run has a result."""
        return not (self.partial or self.tree["changes"] or self.errors)

    @property
    def errors(self) -> int:
        """Runs without a result, which count as falls: one that took too long, for example."""
        return int(self.tree.get("errors", 0))

    @property
    def scores(self) -> dict[str, Score]:
        """Of all cells and of each world."""
        return {name: score(cells) for name, cells in groups(self.limits)}


def entry_tree(study: ProtocolStudy, entrant: Entrant) -> dict[str, Any]:
    """What the file of an entry says."""
    protocol: BalanceV1 = entrant.protocol
    findings = study.findings(entrant)
    limits = protocol.limits(findings)
    versions = provenance()
    tree: dict[str, Any] = {
        "format": FORMAT,
        "protocol": FROZEN["name"],
        "protocol_hash": HASH,
        "law": entrant.label,
        "law_hash": law_hash(entrant),
        "robot": study.robot.name,
        "engine": shown_name(study.engine),
        "versions": {name: versions[name] for name in VERSIONS if name in versions},
        "controller": _plain(entrant.experiment["controller"]),
        "plant": _plain(entrant.experiment["plant"]),
        "places": {name: list(place) for name, place in protocol.places.items()},
        "changes": _plain(study.changes(entrant)),
        "errors": study.counts["error"],
        "partial": protocol.partial,
        "steps": steps_taken(findings),
        "recovery_share": _recovery_share(protocol, limits),
        "cells": limits,
    }
    return {**tree, CHECKSUM: checksum(tree)}


def _plain(tree: Any) -> Any:
    """A section without the folders of the user's own files."""
    if isinstance(tree, Mapping):
        return {key: _plain(item) for key, item in tree.items()}
    if isinstance(tree, list | tuple):
        return [_plain(item) for item in tree]
    return shown_name(tree) if isinstance(tree, str) else tree


def law_hash(entrant: Entrant) -> str:
    """Hash of the file of a law, or of the folder that one of ours has."""
    if entrant.law in entrant.code:
        return entrant.code[entrant.law]
    module = LAWS.ours[entrant.law].split(":")[0]
    spec = importlib.util.find_spec(module)
    assert spec is not None
    file = Path(str(spec.origin))
    files = sorted(file.parent.glob("*.py")) if file.name == "law.py" else [file]
    return hashlib.sha256(b"".join(one.read_bytes() for one in files)).hexdigest()


def _recovery_share(protocol: BalanceV1, limits: Mapping[str, Sequence[float]]) -> float | None:
    """Mean over cells of the largest recovered impulse over the recovery limit."""
    best = protocol.recovery_fractions()
    shares = [
        float(np.mean(limits[name])) / fraction for name, fraction in best.items() if fraction
    ]
    return round(float(np.mean(shares)), DIGITS) if shares else None


def checksum(tree: Mapping[str, Any]) -> str:
    """Of all that an entry says but the sum itself."""
    rest = {key: item for key, item in tree.items() if key != CHECKSUM}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def file_name(tree: Mapping[str, Any]) -> str:
    """Of an entry, by what it is about."""
    law = re.sub(r"[^\w.-]+", "_", str(tree["law"]))
    partial = "-partial" if tree["partial"] else ""
    return f"{tree['protocol']}-{tree['robot']}-{tree['engine']}-{law}{partial}.json"


def write_entry(tree: Mapping[str, Any], folder: Path) -> Path:
    """Put an entry into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(tree)
    cells = ",\n  ".join(
        f"{json.dumps(name)}: {json.dumps(values)}" for name, values in tree["cells"].items()
    )
    rest = [
        f" {json.dumps(key)}: {json.dumps(item)}"
        for key, item in tree.items()
        if key not in ("cells", CHECKSUM)
    ]
    rest += [f' "cells": {{\n  {cells}\n }}', f' "{CHECKSUM}": {json.dumps(tree[CHECKSUM])}']
    write_atomically(path, ("{\n" + ",\n".join(rest) + "\n}\n").encode())
    return path


def read_entry(path: Path) -> Entry:
    """An entry that is whole and of this protocol, or an error that says what is wrong with it."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        tree = None
    if not isinstance(tree, dict) or tree.get("format") != FORMAT or CHECKSUM not in tree:
        raise FileError(
            f"{path} is no entry of the scoreboard of format {FORMAT}; one is made by 'balance "
            f"protocol {FROZEN['name']}'; remove the file"
        )
    if checksum(tree) != tree[CHECKSUM]:
        raise FileError(
            f"{path} was changed after it was written: its checksum does not fit; restore it, or "
            "make it anew with 'balance protocol'"
        )
    if tree.get("protocol_hash") != HASH:
        raise FileError(
            f"{path} is of another protocol ('{tree.get('protocol')}', hash "
            f"{str(tree.get('protocol_hash'))[:12]}); this version of balance ranks "
            f"{FROZEN['name']}, hash {HASH[:12]}; remove the file, or use the version that made it"
        )
    said = {"errors": 0, **tree}
    wrong = [key for key, kind in NEEDED.items() if not isinstance(said.get(key), kind)]
    if wrong:
        raise FileError(
            f"{path} does not say, or not as an entry does: {', '.join(wrong)}; remove the file"
        )
    names = {cell.name for cell in all_cells()}
    if not tree["cells"] or not set(tree["cells"]) <= names:
        raise FileError(f"{path} has cells that {FROZEN['name']} does not; remove the file")
    if not all(map(_are_limits, tree["cells"].values())):
        raise FileError(
            f"{path} has cells without {FROZEN['seeds']} limits from 0 to "
            f"{FROZEN['levels'][-1]:g}, one for each seed; remove the file"
        )
    return Entry(path, tree)


def _are_limits(values: Any) -> bool:
    """Whether these are a cell's limits, one for each seed."""
    return (
        isinstance(values, list)
        and len(values) == FROZEN["seeds"]
        and all(isinstance(x, float | int) and 0.0 <= x <= FROZEN["levels"][-1] for x in values)
    )


def read_entries(folder: Path) -> list[Entry]:
    """All entries of a folder, by robot, then the best first."""
    if not folder.is_dir():
        raise FileError(f"there is no folder {folder}; give that of the entries with --board")
    found = [read_entry(path) for path in sorted(folder.glob("*.json"))]
    return sorted(found, key=lambda one: (one.robot, not one.ranked, -one.scores["all"].mean))


def ranks(entries: Sequence[Entry]) -> list[str]:
    """Places that the intervals leave open to each entry, as ``1`` or, for a tie, as ``1-2``.

    The first is one more than there are entries whose interval lies above its own, the last leaves
    room for those whose interval lies below; entries whose intervals overlap share a place.  Some
    are not ranked.
    """
    whole = [one.scores["all"] for one in entries if one.ranked]
    found = []
    for one in entries:
        mine = one.scores["all"]
        first = 1 + sum(other.low > mine.high for other in whole)
        last = len(whole) - sum(other.high < mine.low for other in whole)
        tie = f"{first}" if first == last else f"{first}-{last}"
        found.append(tie if one.ranked else "")
    return found
