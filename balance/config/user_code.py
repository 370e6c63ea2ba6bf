"""A user's own code, named in a YAML file as ``file.py:Name`` or ``package.module:Name``."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from balance.config.paths import CODE_FILE
from balance.errors import ConfigError, known_names

_MODULE = re.compile(r"^(?P<module>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*):(?P<attribute>[A-Za-z_]\w*)$")


@dataclass(frozen=True)
class UserCode:
    """Where foreign code came from: the reference that names it, its file and that file's hash."""

    reference: str
    file: Path
    sha256: str


def is_reference(name: str) -> bool:
    """Whether a name says where its code is."""
    return CODE_FILE.fullmatch(name) is not None or _MODULE.match(name) is not None


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
        classes = [name for name, item in vars(module).items() if isinstance(item, type)]
        raise ConfigError(
            f"{where}: {file.name} has no '{attribute}'{known_names(attribute, classes)}"
        )
    return getattr(module, attribute), code


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
    except Exception as error:  # noqa: BLE001  # whatever a stranger's file does
        del sys.modules[name]
        raise ConfigError(f"{where}: {file.name} cannot be loaded: {told(error, file)}") from None
    finally:
        sys.path.remove(str(file.resolve().parent))
    return module


def _import_module(name: str, where: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:  # noqa: BLE001
        raise ConfigError(f"{where}: module '{name}' cannot be imported: {told(error)}") from None


def told(error: BaseException, file: Path | None = None) -> str:
    """An exception of foreign code in a line: its kind, its text, and the line that raised it."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if file is None or Path(frame.filename) == file
    ]
    if isinstance(error, SyntaxError) and error.lineno is not None:
        lines = [error.lineno]
    at = f", line {lines[-1]}" if lines else ""
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}{at}" + (f": {text}" if text else "")
