"""A user's own code, named in a YAML file as ``file.py:Name`` or ``package.module:Name``.

Only what is asked to load runs anything; :func:`references` and :func:`shown_name` just read names.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from balance.config.paths import CODE_FILE, NETWORK_FILE
from balance.errors import ConfigError, known_names

_MODULE = re.compile(r"^(?P<module>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*):(?P<attribute>[A-Za-z_]\w*)$")
_NAMING = ("law", "type", "engine", "quantities")
"""Keys under which a YAML file names something of a registry."""
SHOWN_DIGITS = 12  # of a hash

FOREIGN = (Exception, SystemExit)
"""What foreign code may raise; Ctrl-C stays the user's."""


@dataclass(frozen=True)
class UserCode:
    """Where foreign code came from: the reference that names it, its file and that file's hash."""

    reference: str
    file: Path
    sha256: str


def is_reference(name: str) -> bool:
    """Whether a name says where its code is."""
    return CODE_FILE.fullmatch(name) is not None or _MODULE.match(name) is not None


def shown_name(name: str) -> str:
    """A name as results show it: of a reference to a file, without the file's folder."""
    found = CODE_FILE.fullmatch(name)
    return f"{Path(found['file']).name}:{found['attribute']}" if found else name


def references(tree: Any, key: str = "", above: str = "") -> Iterator[tuple[str, str]]:
    """Dotted keys of a YAML file under which it names code, and what they name."""
    if isinstance(tree, Mapping):
        for name, item in tree.items():
            yield from references(item, f"{key}.{name}" if key else str(name), str(name))
    elif isinstance(tree, list | tuple):
        for index, item in enumerate(tree):
            yield from references(item, f"{key}.{index}", above)
    elif isinstance(tree, str):
        named = is_reference(tree) if above in _NAMING else CODE_FILE.fullmatch(tree)
        if named:
            yield key, tree


def said(code: Mapping[str, str] | None) -> list[str]:
    """One line for each name of the user's own code: where it is from, and its hash."""
    lines = []
    for name, sha256 in (code or {}).items():
        source, _, attribute = name.rpartition(":")
        where = f"{attribute} from {source}" if source else name
        lines.append(f"Loaded {where} (sha256 {sha256[:SHOWN_DIGITS]})")
    return lines


def load_reference(reference: str, kind: str, key: str) -> tuple[Any, UserCode]:
    """What a reference names, and where it came from; one sentence if it cannot be had."""
    found = CODE_FILE.fullmatch(reference)
    where = f"'{key}' = '{reference}'"
    if found is not None:
        file = Path(found["file"])
        if not file.is_file():
            raise ConfigError(f"{where}: the file {file} does not exist")
        code = UserCode(reference, file, _hash(file))
        module = _run_file(file, code.sha256, where)
    else:
        found = _MODULE.match(reference)
        assert found is not None
        module = _import_module(found["module"], where)
        file = Path(module.__file__ or "")
        code = UserCode(reference, file, _hash(file) if file.is_file() else "")
    attribute = found["attribute"]
    if not hasattr(module, attribute):
        classes = [name for name, item in vars(module).items() if _defined_in(module, item)]
        raise ConfigError(
            f"{where}: {file.name} has no '{attribute}'{known_names(attribute, classes)}"
        )
    return getattr(module, attribute), code


def network_files(tree: Any) -> Iterator[UserCode]:
    """The networks that a section names, as far as they are there, each with its hash."""
    if isinstance(tree, Mapping):
        for item in tree.values():
            yield from network_files(item)
    elif isinstance(tree, str) and NETWORK_FILE.fullmatch(tree) and Path(tree).is_file():
        yield UserCode(tree, Path(tree), _hash(Path(tree)))


def _defined_in(module: ModuleType, item: object) -> bool:
    """Whether ``item`` is a class of the module itself, none that it imports."""
    return isinstance(item, type) and item.__module__ == module.__name__


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _run_file(file: Path, sha256: str, where: str) -> ModuleType:
    """The module in a file, run once for each content; it may import its neighbours."""
    path = str(file.resolve())
    name = f"{file.stem}_{hashlib.sha256((path + sha256).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except FOREIGN as error:
        sys.modules.pop(name, None)
        raise ConfigError(f"{where}: {file.name} cannot be loaded: {told(error, file)}") from None
    finally:
        with suppress(ValueError):  # the file may have done so itself
            sys.path.remove(str(file.resolve().parent))
    return module


def _import_module(name: str, where: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except FOREIGN as error:
        raise ConfigError(f"{where}: module '{name}' cannot be imported: {told(error)}") from None


def told(error: BaseException, made: Any = None) -> str:
    """An exception of foreign code in a line: its kind, where it was raised, its text.

    ``made`` is a file, or what was made from one: the last line of that file is told, not one of
    some library below it.
    """
    file = made if isinstance(made, Path) else _file_of(made)
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename[0] != "<"]
    own = [frame for frame in frames if file is not None and Path(frame.filename) == file]
    where = ""
    if own or frames:
        last = (own or frames)[-1]
        where = f"{Path(last.filename).name}, line {last.lineno}"
    if isinstance(error, SyntaxError) and error.lineno is not None:
        where = f"{Path(error.filename or '').name}, line {error.lineno}"
    text = (error.msg if isinstance(error, SyntaxError) else str(error)).partition("\n")[0]
    return type(error).__name__ + (f" in {where}" if where else "") + (f": {text}" if text else "")


def _file_of(made: Any) -> Path | None:
    kind = made if isinstance(made, type) else type(made)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return None if file is None else Path(file)
