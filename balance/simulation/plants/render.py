"""Films of recordings: drawn off screen by MuJoCo, encoded by the ffmpeg of imageio-ffmpeg.

The recording may come from any engine; only the drawing needs MuJoCo.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from balance.errors import FileError, MissingExtraError
from balance.robots import Robot
from balance.simulation.pendulum import swings
from balance.simulation.pushes import Push

if TYPE_CHECKING:
    from balance.simulation.plants.film import Film

Array = NDArray[np.float64]

WIDTH, HEIGHT = 640, 720  # pixels
LOOKS = 50  # at a run through stances, for the room that the robot takes
FRAMES_PER_S = {".mp4": 30, ".gif": 20}
ENCODING = {
    ".mp4": ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart"],
    ".gif": ["-filter_complex", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none"],
}


class Recorded(Protocol):
    """What is drawn of a :class:`balance.recordings.recording.Recording`."""

    @property
    def robot(self) -> Robot: ...
    @property
    def pushes(self) -> Sequence[Push]: ...
    @property
    def time(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def touches(self) -> Array: ...


def check_encoder(path: Path) -> None:
    """Raise now whatever would keep a film from being written to ``path`` after a long run."""
    if path.suffix.lower() not in ENCODING:
        raise FileError(f"a film is an .mp4 or a .gif file; {path} is neither")
    if os.path.isdir(path) or not os.access(path.parent, os.W_OK) or not path.parent.is_dir():
        raise FileError(f"the film {path} cannot be written; its folder must exist and be writable")
    try:
        path.lstat()
    except FileNotFoundError:
        pass  # as it should be
    except OSError as error:  # too long a name
        raise FileError(f"the film {path} cannot be written: {error.strerror or error}") from None
    _ffmpeg()
    _film_class().check_drawing()


def render_recording(recording: Recorded, path: Path) -> None:
    """Draw a recording, in real time, into an .mp4 or .gif file; an old file is replaced."""
    check_encoder(path)
    if recording.time.size == 0:
        raise FileError(f"there is nothing to draw into {path}: the recording is empty")
    rate = FRAMES_PER_S[path.suffix.lower()]
    moments = np.arange(0.0, float(recording.time[-1]) + 0.5 / rate, 1.0 / rate)
    rows = np.searchsorted(recording.time, moments).clip(max=recording.time.size - 1)
    pendulums = swings(recording.robot, recording.pushes, recording.time, recording.q)
    # Where stances change the robot may grow; who falls, or flies, does not.
    looks = rows[:: max(1, rows.size // LOOKS)] if recording.robot.in_turns else rows[:0]
    seen = [recording.q[row] for row in looks]
    film = _film_class()(recording.robot, recording.pushes, WIDTH, HEIGHT, pendulums, seen)
    with film, _encoding(path, rate) as images:
        for row in rows:
            touches = recording.touches[row, :, 2:8].reshape(-1, 2, 3)
            image = film.image(float(recording.time[row]), recording.q[row], touches)
            images.write(image.tobytes())


@contextmanager
def _encoding(path: Path, rate: int) -> Iterator[IO[bytes]]:
    """A pipe for images (rows of RGB bytes, top first) that end up in a film."""
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(rate)]
    command = [_ffmpeg(), "-y", "-loglevel", "error", *source, "-i", "-"]
    command += [*ENCODING[path.suffix.lower()], str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # if the encoder has ended early, it says why below
        yield process.stdin
    _, complaint = process.communicate()
    if process.returncode:
        reason = " ".join(complaint.decode(errors="replace").split())
        raise FileError(f"the film {path} cannot be written: {reason}")


def _ffmpeg() -> str:
    """Path of the encoder."""
    try:
        import imageio_ffmpeg
    except ModuleNotFoundError:
        raise MissingExtraError("imageio-ffmpeg", "mujoco") from None
    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise FileError(
            f"no video encoder is found: {' '.join(str(error).split())}; reinstall imageio-ffmpeg, "
            "or set IMAGEIO_FFMPEG_EXE to an ffmpeg"
        ) from None


def _film_class() -> type[Film]:
    try:
        from balance.simulation.plants.film import Film
    except ModuleNotFoundError as error:
        if error.name != "mujoco":
            raise
        raise MissingExtraError("mujoco", "mujoco") from None
    return Film
