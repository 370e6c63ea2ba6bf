"""``balance run --watch``: run again, and draw again, whenever the config file is saved."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from balance.app.cli.options import about, tell_code
from balance.errors import BalanceError
from balance.recordings.verdict import Cause

if TYPE_CHECKING:
    from balance.recordings.outputs import Output
    from balance.recordings.recording import Recording

LOOK_EVERY_S = 0.3


def run_and_watch(
    path: Path,
    overrides: dict[str, Any],
    output: Output,
    robots: Sequence[Path],
    pdf: bool,
    trust: bool = False,
) -> None:
    """Run ``path`` into ``output`` again and again until interrupted.

    A mistake in the file is reported and the last result stays; ``change.png`` lays the latest run
    over the one before.  A file of code that the config names is watched as well.
    """
    from balance.app.terminal import console

    before: Recording | None = None
    while True:
        files = _watched(path)
        seen = [_stamp(file) for file in files]
        try:
            latest = _run(path, overrides, output, robots, pdf, before, trust)
        except BalanceError as error:
            console.print(f"balance: {error}", style="red", highlight=False, soft_wrap=True)
        else:
            if latest.end.cause is Cause.INTERRUPTED:
                return
            before = latest
        console.print(f"Watching {path}; Ctrl-C ends.", highlight=False, soft_wrap=True)
        try:
            while [_stamp(file) for file in files] == seen:
                pause()
        except KeyboardInterrupt:
            return


def pause() -> None:
    """Between two looks at the file."""
    time.sleep(LOOK_EVERY_S)


def _watched(path: Path) -> list[Path]:
    """The config, and the files of code that it names."""
    from balance.config.paths import CODE_FILE, with_full_paths
    from balance.config.schema import load_yaml_mapping
    from balance.config.user_code import references

    try:
        tree = with_full_paths(load_yaml_mapping(path), path.parent)
    except BalanceError:
        return [path]
    found = (CODE_FILE.fullmatch(name) for _, name in references(tree))
    return [path, *(Path(one["file"]) for one in found if one)]


def _stamp(path: Path) -> tuple[int, int] | None:
    """When a file was saved, and its size; None while an editor replaces it."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _run(
    path: Path,
    overrides: dict[str, Any],
    output: Output,
    robots: Sequence[Path],
    pdf: bool,
    before: Recording | None,
    trust: bool = False,
) -> Recording:
    from balance.app.terminal import console, progress_bar, result_table
    from balance.config import load_config
    from balance.experiment import run
    from balance.plots import draw_run
    from balance.plots.overlay import com_momentum_overlay
    from balance.plots.style import save
    from balance.recordings.results import fill

    loaded = load_config(path, overrides, trust=trust)
    tell_code(loaded.code)
    with about(path), progress_bar(loaded.duration_s) as progress:
        latest = run(loaded, progress, robots)

    def draw(recording: Recording, work: Path) -> None:
        draw_run(recording, work, pdf)
        if before is not None:
            save(
                com_momentum_overlay([("before", before), ("now", recording)]), work, "change", pdf
            )

    console.print(result_table(latest))
    folder = fill(output, latest, draw)
    console.print(f"Written to {folder}", highlight=False, soft_wrap=True)
    return latest
