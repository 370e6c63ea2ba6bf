"""Makes an experiment that fails smaller, as long as it fails in the same way."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from campaign.draw import Drawn, Tree

Fails = Callable[[Drawn], bool]

NEEDED = ("robot", "duration_s", "controller", "control_period_s", "plant", "pushes")


def shrink(drawn: Drawn, fails: Fails, tries: int = 60) -> Drawn:
    """The smallest experiment found within so many tries."""
    improved = True
    while improved:
        improved = False
        for smaller in _smaller(drawn):
            tries -= 1
            if tries < 0:
                return drawn
            if fails(smaller):
                drawn, improved = smaller, True
                break
    return drawn


def _smaller(drawn: Drawn) -> Iterator[Drawn]:
    """The same with a part left out, the largest parts first."""
    tree = drawn.tree
    if (drawn.size, drawn.mass) != (1.0, 1.0):
        yield Drawn(tree)
    for key in tree:
        if key not in NEEDED:
            yield _without(drawn, (key,))
    for index in range(len(tree["pushes"])):
        if len(tree["pushes"]) > 1:
            pushes = tree["pushes"][:index] + tree["pushes"][index + 1 :]
            yield drawn.with_(pushes=pushes)
    for section in ("controller", "plant", "actuators", "sensors", "mismatch", "ground"):
        for key in tree.get(section, {}):
            if key not in ("law", "step_s", "engine") and (
                section in ("controller", "plant") or len(tree[section]) > 1
            ):
                yield _without(drawn, (section, key))


def _without(drawn: Drawn, path: tuple[str, ...]) -> Drawn:
    tree: Tree = copy.deepcopy(drawn.tree)
    inside = tree
    for key in path[:-1]:
        inside = inside[key]
    del inside[path[-1]]
    return Drawn(tree, drawn.size, drawn.mass)
