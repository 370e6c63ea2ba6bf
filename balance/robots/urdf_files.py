"""What a URDF file may do: be of sane size, be XML, and name meshes of its own package only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from balance.errors import RobotError

MAX_URDF_BYTES = 50_000_000
URDF_FOLDERS = ("urdf", "robots", "robot", "models", "model")
"""Where a package has its URDFs."""


def read_xml(urdf: Path) -> ElementTree.Element:
    """The root element of a URDF."""
    try:
        size = urdf.stat().st_size
        if size > MAX_URDF_BYTES:
            raise RobotError(f"the URDF {urdf} has {size} bytes; at most {MAX_URDF_BYTES}")
        root = ElementTree.parse(urdf).getroot()
    except OSError as error:
        raise RobotError(f"the URDF {urdf} cannot be read: {error.strerror or error}") from None
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise RobotError(f"the URDF {urdf} is not valid XML: {error}") from None
    if root.tag != "robot" or root.find("link") is None:
        raise RobotError(f"the URDF {urdf} holds no <robot> with a <link>")
    return root


def check_references(root: ElementTree.Element, urdf: Path, packages: Sequence[Path]) -> None:
    """Refuse a URDF that names a file outside of the folder of its package.

    A mesh is read when a film is drawn: a file from elsewhere must not be able to choose which.
    """
    folders = [folder.resolve() for folder in packages]
    allowed = [_own_folder(urdf, folder).resolve() for folder in packages]
    for element in root.iter():
        name = element.get("filename")
        if name is None:
            continue
        paths = _candidates(name, urdf, folders)
        inside = [path for path in paths if _inside(path, allowed)]
        if not inside or any(os.path.exists(path) for path in paths if path not in inside):
            raise RobotError(
                f"the URDF {urdf} names the file '{name[:200]}' in <{element.tag}>, which is "
                f"outside of its package {allowed[0]}; copy the file there and name it by "
                "package://"
            )


def package_folders(urdf: Path) -> tuple[Path, ...]:
    """Where the meshes of a user's URDF are looked for: beside it, and in its package.

    ``package://NAME/meshes/foot.stl`` is in a folder NAME beside the URDF, or in the package NAME
    that holds the URDF, as those of ROS are laid out: NAME/urdf/robot.urdf, or deeper below a
    folder NAME with a package.xml.
    """
    found = {urdf.parent: None}
    try:
        names = [element.get("filename", "") for element in read_xml(urdf).iter()]
    except RobotError:  # told when the model is read
        return (urdf.parent,)
    schemes = (name.partition("://") for name in names)
    packages = {rest.partition("/")[0] for scheme, _, rest in schemes if scheme == "package"}
    for folder in urdf.parents:
        in_place = folder == urdf.parent.parent and urdf.parent.name in URDF_FOLDERS
        if folder.name in packages and (in_place or (folder / "package.xml").is_file()):
            found[folder.parent] = None
    return tuple(found)


def _own_folder(urdf: Path, packages: Path) -> Path:
    """The package, in a folder of packages, that a URDF is in; the folder itself if it is there."""
    inside = urdf.relative_to(packages).parts
    return packages / inside[0] if len(inside) > 1 else packages


def referenced_file(name: str, urdf: Path, packages: Sequence[Path]) -> Path | None:
    """The file that a URDF means by a name; None if there is none."""
    found = _candidates(name, urdf, packages) if name else []
    return next((path for path in found if os.path.isfile(path)), None)


def _candidates(name: str, urdf: Path, packages: Sequence[Path]) -> list[Path]:
    """Where a reference may lead, with links and ``..`` followed."""
    scheme, found, rest = name.partition("://")
    if not found:
        return _resolved([urdf.parent], name)
    if scheme in ("package", "model"):
        return _resolved(packages, unquote(rest))
    return _resolved([Path("/")], unquote(rest)) if scheme == "file" else []


def _resolved(folders: Sequence[Path], name: str) -> list[Path]:
    with suppress(OSError, ValueError, RuntimeError):  # a null byte, a loop of links
        return [(folder / name).resolve() for folder in folders]
    return []


def _inside(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


@contextmanager
def parser_output() -> Iterator[list[str]]:
    """Collect what a C++ parser prints, so that it can become part of one sentence.

    The list is filled when the block ends.
    """
    lines: list[str] = []
    try:
        kept = os.dup(2)
    except OSError:  # nothing is connected to stderr
        yield lines
        return
    try:
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), 2)
            try:
                yield lines
            finally:
                os.dup2(kept, 2)
                file.seek(0)
                lines += file.read().decode(errors="replace").splitlines()
    finally:
        os.close(kept)
