"""The commands about one experiment: run, plot, theory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from balance.app.cli.options import (
    ConfigArgument,
    OutOption,
    OverwriteOption,
    PdfOption,
    RobotsOption,
    SetOption,
    TrustOption,
    about,
    claimed,
    tell_code,
)

if TYPE_CHECKING:
    from balance.config import ExperimentConfig
    from balance.experiment import Experiment
    from balance.recordings.recording import Recording


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    for command in (run, plot, theory):
        app.command()(command)


def run(
    config: ConfigArgument,
    out: OutOption = None,
    set_: SetOption = None,
    robots: RobotsOption = None,
    overwrite: OverwriteOption = False,
    pdf: PdfOption = False,
    figures: Annotated[bool, typer.Option(help="Draw the figures.")] = True,
    render: Annotated[
        Path | None, typer.Option("--render", metavar="FILE", help="Draw a film, .mp4 or .gif.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Run and draw again whenever the file is saved.")
    ] = False,
    real_time: Annotated[
        bool, typer.Option("--real-time", help="Run as fast as time and count deadline misses.")
    ] = False,
    trust: TrustOption = False,
) -> None:
    """Simulate one experiment, record it, judge it and draw it."""
    from balance.app.cli.loading import load_experiment
    from balance.app.terminal import console, progress_bar, result_table, tell_compiling
    from balance.config import find_config, parse_overrides
    from balance.recordings.outputs import RUN
    from balance.recordings.results import fill_or_rescue
    from balance.recordings.verdict import EndKind
    from balance.studies.cells import look_up

    path = find_config(config)
    if watch:
        from balance.app.cli.watch import run_and_watch

        with claimed(out, f"{path.stem}-watched", RUN, overwrite) as output:
            run_and_watch(path, parse_overrides(set_ or []), output, robots or [], pdf, trust)
        return
    loaded = load_experiment(path, parse_overrides(set_ or []), robots or [], trust)
    tell_code(loaded.code)
    tell_compiling()
    with claimed(out, path.stem, RUN, overwrite) as output, _film(render, overwrite) as film:
        experiment = look_up(loaded, str(path), robots or [])
        draw = _drawing(pdf, robots or []) if figures else None
        if real_time:
            recording, draw = _by_the_clock(experiment, robots or [], draw)
        else:
            with progress_bar(loaded.duration_s) as progress:
                recording = experiment.run(progress)
        console.print(result_table(recording))
        folder = fill_or_rescue(output, recording, draw)
        console.print(f"Written to {folder}{_listing(folder)}", highlight=False, soft_wrap=True)
        film(recording)
    if recording.end.kind is EndKind.ABORTED:
        raise typer.Exit(1)


Draw = Callable[["Recording", Path], list[Path]]


def _by_the_clock(
    experiment: Experiment, robots: list[Path], draw: Draw | None
) -> tuple[Recording, Draw]:
    """Run in real time, tell what the clock saw, and have it written beside the figures."""
    import json

    from balance.app.live.session import rehearse
    from balance.app.real_time import RealTimeRun
    from balance.app.terminal import console, plain_table

    rehearse(experiment.config, robots)
    paced = RealTimeRun(experiment)
    recording = paced.run()
    console.print(plain_table(("time", "wake-ups", "steps"), paced.timing.table()))
    console.print(paced.timing.sentence(), highlight=False, soft_wrap=True)

    def draw_and_tell(recording: Recording, folder: Path) -> list[Path]:
        file = folder / "real_time.json"
        text = json.dumps(paced.timing.facts(), indent=2) + "\n"
        file.write_text(text, encoding="utf-8")
        return [file, *(draw(recording, folder) if draw else [])]

    return recording, draw_and_tell


@contextmanager
def _film(path: Path | None, overwrite: bool) -> Iterator[Callable[[Recording], None]]:
    """Claim the film's file now; what it gives draws the film."""
    if path is None:
        yield lambda recording: None
        return
    from balance.app.terminal import console
    from balance.recordings.outputs import Output
    from balance.simulation.plants.render import check_encoder, render_recording

    check_encoder(path)
    with Output(path, None, overwrite) as output:

        def draw(recording: Recording) -> None:
            with output.filling() as file:
                render_recording(recording, file)
            console.print(f"Film: {output.path}", highlight=False, soft_wrap=True)

        yield draw


def _drawing(pdf: bool, robots: list[Path]) -> Callable[[Recording, Path], list[Path]]:
    """Draws the figures of a run into a folder; with phases, their postures too."""

    def draw(recording: Recording, folder: Path) -> list[Path]:
        from balance.plots import draw_run

        return draw_run(recording, folder, pdf) + _postures(recording.config, robots, folder, pdf)

    return draw


def _postures(config: ExperimentConfig, robots: list[Path], folder: Path, pdf: bool) -> list[Path]:
    """Find the postures of an experiment with phases and draw them."""
    if not config.phases:
        return []
    from balance.plots import draw_postures
    from balance.robots import load_robot
    from balance.robots.objects import world_objects
    from balance.robots.sequence import plan_phases

    phases = plan_phases(config, load_robot(config.robot, robots))
    return draw_postures(phases, world_objects(config.objects), folder, pdf)


def _listing(folder: Path) -> str:
    return ": " + ", ".join(sorted(path.name for path in folder.iterdir()))


def plot(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT...", help="Result folders, or an experiment with phases."),
    ],
    out: OutOption = None,
    robots: RobotsOption = None,
    overwrite: OverwriteOption = False,
    pdf: PdfOption = False,
) -> None:
    """Draw the figures of a run again, into its own folder, or of several runs in one.

    Of an experiment with phases, a YAML file or a shipped one's name, the postures found.
    """
    from balance.app.terminal import console
    from balance.plots import draw_overlay
    from balance.recordings.outputs import OVERLAY, adding_to
    from balance.recordings.results import load_recording

    if len(results) == 1 and _is_config(results[0]):
        _plot_postures(results[0], out, robots or [], overwrite, pdf)
        return
    recordings = [(folder.name, load_recording(folder, robots or [])) for folder in results]
    folder = results[0]
    draw = _drawing(pdf, robots or [])
    if len(recordings) == 1 and out is None:
        with adding_to(folder) as work:
            written = draw(recordings[0][1], work)
    else:
        with claimed(out, "overlay", OVERLAY, overwrite) as output:
            with output.filling() as work:
                if len(recordings) == 1:
                    written = draw(recordings[0][1], work)
                else:
                    written = draw_overlay(recordings, work, pdf)
            folder = output.path
    for file in written:
        console.print(str(folder / file.name), highlight=False, soft_wrap=True)


def _is_config(path: Path) -> bool:
    """Whether a name is that of an experiment's file or of a shipped one, not of a result."""
    from balance.config import find_config
    from balance.errors import BalanceError

    if path.is_dir():
        return False
    try:
        return find_config(path).suffix in (".yaml", ".yml")
    except BalanceError:
        return False


def _plot_postures(
    path: Path, out: Path | None, robots: list[Path], overwrite: bool, pdf: bool
) -> None:
    from balance.app.terminal import console
    from balance.config import find_config, load_config
    from balance.errors import ConfigError
    from balance.recordings.outputs import POSTURES

    file = find_config(path)
    config = load_config(file)
    if not config.phases:
        raise ConfigError(
            f"{file} has no phases, whose postures could be drawn; run it, and plot the result"
        )
    with about(file), claimed(out, f"{file.stem}-postures", POSTURES, overwrite) as output:
        with output.filling() as work:
            written = _postures(config, robots, work, pdf)
        for one in written:
            console.print(str(output.path / one.name), highlight=False, soft_wrap=True)


def theory(
    robot: Annotated[str, typer.Option(help="A robot's name or YAML file.")] = "toro",
    states: Annotated[int, typer.Option(min=1, max=100_000, help="Random states.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random states.")] = 0,
    robots: RobotsOption = None,
) -> None:
    """Print the residual of every identity of the papers; exit with 1 if one fails."""
    from balance.analysis.theory import print_table, residual_table
    from balance.app.terminal import console
    from balance.robots import load_robot

    rows = residual_table(load_robot(robot, robots or []).model, states, seed)
    if not print_table(rows, console):
        raise typer.Exit(1)
