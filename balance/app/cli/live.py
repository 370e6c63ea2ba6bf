"""The commands ``balance live`` and ``balance replay``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from balance.app.cli.options import RobotsOption, SetOption, TrustOption, tell_code
from balance.errors import MissingExtraError

if TYPE_CHECKING:
    from balance.app.live.lab import Lab
    from balance.app.live.server import LocalServer

HostOption = Annotated[
    str,
    typer.Option(
        help="Address or name to listen on and to answer to; the default admits this machine only."
    ),
]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 finds a free one.")]
OpenOption = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.command()(live)
    app.command()(replay)


def live(
    config: Annotated[
        str, typer.Argument(metavar="CONFIG", help="A YAML file, or a shipped config.")
    ] = "toro_side",
    set_: SetOption = None,
    robots: RobotsOption = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for what is saved.")
    ] = Path("results"),
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    open_: OpenOption = False,
    trust: TrustOption = False,
) -> None:
    """Open a page where you push the robot by hand."""
    _check_extra()
    from balance.app.live.lab import Lab
    from balance.app.live.server import open_server
    from balance.app.live.session import check_one_stance
    from balance.config import find_config, load_config, parse_overrides
    from balance.experiment import Experiment

    loaded = load_config(find_config(config), parse_overrides(set_ or []), trust=trust)
    tell_code(loaded.code)
    check_one_stance(loaded)
    Experiment(loaded, robots or [])  # whatever is wrong with it is said before a page opens
    server = open_server(host, port)
    lab = Lab(server, loaded, out, robots or [])
    _serve(server, lab, open_, "Push it")


def replay(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result folder.")],
    robots: RobotsOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    open_: OpenOption = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write one self-contained page and end."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file of --html if it exists.")
    ] = False,
) -> None:
    """Watch a run in the browser, with a slider for the time."""
    _check_extra()
    from balance.app.live.export import export_html
    from balance.app.live.lab import Lab
    from balance.app.live.replay import Replay
    from balance.app.live.server import open_server
    from balance.app.terminal import console
    from balance.recordings.outputs import Output
    from balance.recordings.results import load_recording

    recording = load_recording(result, robots or [])
    shown = Replay(recording, result)
    if html is not None:
        with Output(html, None, overwrite) as output, output.filling() as file:
            export_html(recording, file)
        console.print(str(output.path), highlight=False, soft_wrap=True)
        return
    server = open_server(host, port)
    lab = Lab(server, recording.config, result.absolute().parent, robots or [], shown)
    _serve(server, lab, open_, "Watch it")


def _check_extra() -> None:
    import importlib.util

    if importlib.util.find_spec("viser") is None:
        raise MissingExtraError("viser", "live")


def _serve(server: LocalServer, lab: Lab, open_: bool, invitation: str) -> None:
    """Run until Ctrl-C or a termination signal; then the port is free again."""
    import signal
    import webbrowser

    from balance.app.terminal import console

    url = server.url
    console.print(f"{invitation} at {url} (Ctrl-C ends)", highlight=False, soft_wrap=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: lab.stop())
    if open_:
        webbrowser.open(url)
    try:
        lab.run()
    finally:
        lab.close()
        server.stop()
