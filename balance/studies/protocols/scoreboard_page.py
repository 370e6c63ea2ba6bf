"""``docs/scoreboard.md``: the entries as tables, with one figure for each robot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from balance.recordings.atomic_writes import write_atomically
from balance.studies.protocols.balance_v1 import FROZEN, HASH, Score, all_cells
from balance.studies.protocols.scoreboard import Entry, ranks, read_entries
from balance.studies.summary import markdown

HEAD = (
    "rank", "law", "engine", "score", "95 % interval", "clean", "disturbed", "weakest cell",
    "its limit", "with steps", "of the recovery limit", "balance",
)  # fmt: skip


def write_page(board: Path, page: Path, pdf: bool = False) -> list[Entry]:
    """Write the page and its figures, in the folder ``figures`` beside it; the entries in it."""
    from balance.plots.scoreboard import scoreboard_figure
    from balance.plots.style import save

    entries = read_entries(board)
    for robot in robots_of(entries):
        name = f"scoreboard_{robot}"
        figure = scoreboard_figure([one for one in entries if one.robot == robot], robot)
        save(figure, page.parent / "figures", name, pdf)
    write_atomically(page, page_text(entries).encode())
    return entries


def robots_of(entries: Sequence[Entry]) -> list[str]:
    """Robots with entries."""
    return list(dict.fromkeys(one.robot for one in entries))


def page_text(entries: Sequence[Entry]) -> str:
    """The page as Markdown; nothing in it depends on when or where it is made."""
    parts = [
        "# Scoreboard",
        f"Protocol [`{FROZEN['name']}`](protocols.md#ours-balance_v1), hash `{HASH[:12]}`: the "
        f"mean over {len(all_cells())} cells of the largest recovered push over the ankle limit. "
        "Written by `balance protocol report` from the files in `results/scoreboard/`; "
        "[how to add a row](protocols.md#a-row-of-your-own). A rank is the range of places that "
        "the intervals leave open: entries whose intervals overlap are tied, and share a place.",
    ]
    for robot in robots_of(entries):
        here = [one for one in entries if one.robot == robot]
        ranked, others = [x for x in here if x.ranked], [x for x in here if not x.ranked]
        parts += [f"## {robot}", f"![Scores on {robot}](figures/scoreboard_{robot}.png)"]
        if ranked:
            rows = [[rank, *_cells(one)] for rank, one in zip(ranks(ranked), ranked, strict=True)]
            parts.append(markdown(HEAD, rows))
        if others:
            parts.append(
                "Not ranked: partial entries, of some of the cells only, to be compared only where "
                "the cells are the same, those whose experiment was changed, and those with runs "
                "that have no result."
            )
            rows = [[_why(one), *_cells(one)] for one in others]
            parts.append(markdown(("not ranked", *HEAD[1:]), rows))
    return "\n\n".join(parts) + "\n"


def _why(one: Entry) -> str:
    """Why an entry is not ranked."""
    reasons = [f"{len(one.limits)} cells"] if one.partial else []
    reasons += [f"{one.errors} runs without a result"] if one.errors else []
    return ", ".join([*reasons, *(f"{key} changed" for key in one.tree["changes"])])


def _cells(one: Entry) -> list[str]:
    scores, share = one.scores, one.tree["recovery_share"]
    both = scores["all"]
    return [
        one.law,
        one.engine,
        f"{both.mean:.3f}",
        f"{both.low:.3f} to {both.high:.3f}",
        _mean(scores.get("clean")),
        _mean(scores.get("disturbed")),
        both.weakest,
        f"{both.least:.2f}",
        str(one.tree["steps"]),
        "" if share is None else f"{share:.2f}",
        str(one.tree["versions"].get("balance", "")),
    ]


def _mean(found: Score | None) -> str:
    return "" if found is None else f"{found.mean:.3f}"
