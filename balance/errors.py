"""What a user can get wrong: one base class, one subclass per kind of mistake.

Every message is one sentence that says what is wrong, where (file and key), the offending value,
what is allowed, and what to do.  The command line prints the message alone and exits with
``exit_code``; a traceback is reserved for our own mistakes.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# A line break, but for those of an indented list, and whatever moves a terminal's cursor.
UNPRINTABLE = re.compile(r"\n(?!  )|[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")


class BalanceError(Exception):
    """Base of every error this package raises on purpose."""

    exit_code = 2

    def __str__(self) -> str:
        """The sentence; what a user's file or argument brought into it stays on its line."""
        return UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], super().__str__())


class ConfigError(BalanceError):
    """A key of a configuration or robot file is unknown, of the wrong type, or out of range."""


class FileError(BalanceError):
    """A file is missing, unreadable, or in the way."""


class RobotError(BalanceError):
    """A robot is unknown, or its model cannot be balanced."""


class FrameError(BalanceError):
    """A frame, body or joint does not exist in the model."""


class InputError(BalanceError):
    """An argument of a function has the wrong shape, is not finite, or is out of its domain."""


class ChartError(InputError):
    """A rotation or position chart is unknown, singular here, or its coordinates are invalid."""


class SingularityError(BalanceError):
    """A matrix that the formula must invert is singular at this state."""


class QPError(BalanceError):
    """A quadratic program is malformed, or its solver is unknown."""


class ResultError(BalanceError):
    """A result folder or recording cannot be read."""


def is_interrupt(error: BaseException) -> bool:
    """Whether this is Ctrl-C, also where it came upon a compiled function.

    Numba's functions then return although an exception is set, of which Python makes a
    SystemError whose cause is the interrupt; several, where one such function called another.
    """
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__
    return isinstance(cause, KeyboardInterrupt)


class MissingExtraError(BalanceError):
    """An optional part of the package is not installed."""

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(
            f"this needs the Python package '{module}', which is not installed; "
            f"run: {_pip_install(extra)}"
        )


def _pip_install(extra: str) -> str:
    """The command that brings an extra to this very Python: from a clone, if this is one."""
    clone = Path(__file__).resolve().parents[1]
    if (clone / "pyproject.toml").is_file():
        return f"{sys.executable} -m pip install -e '{clone}[{extra}]'"
    return f"{sys.executable} -m pip install 'pin-balance[{extra}]'"


SHOWN_NAMES = 30


def known_names(name: str, valid: Iterable[str]) -> str:
    """End of an error message: the nearest valid name, and the valid ones."""
    names = sorted(valid)
    shown = names if len(names) <= SHOWN_NAMES else [*names[:SHOWN_NAMES], "..."]
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    return f"{hint}; valid: {', '.join(shown)}"


def listed(source: str, problems: Sequence[str], between: str = ": ") -> str:
    """One problem as a sentence about ``source``; several as a list, one to a line."""
    if len(problems) == 1:
        return f"{source}{between}{problems[0]}"
    shown = [*problems[:SHOWN_NAMES], *(["..."] if len(problems) > SHOWN_NAMES else [])]
    lines = (text.replace("\n", "\n  ") for text in shown)  # a list in a list is set in
    return f"{source}: {len(problems)} problems" + "".join(f"\n  {line}" for line in lines)


class Problems:
    """Gathers what is wrong in several places, to tell all of it at once.

    A complaint that several places share is told for the first of them.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: dict[str, str] = {}
        self._first: BalanceError | None = None

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """Gather the errors of a block; ``place`` is what their messages begin with."""
        try:
            yield
        except BalanceError as error:
            self._first = self._first or error
            head, *lines = re.split(r"\n  (?! )", str(error))
            complete = head.endswith(f"{len(lines)} problems")
            for line in lines if complete else [str(error)]:
                text = line.replace("\n  ", "\n") if complete else line
                self._found.setdefault(text.removeprefix(f"{place}: "), place)

    def __len__(self) -> int:
        return len(self._found)

    def tell(self) -> None:
        """Raise what was found: an only error as it was, several as a list."""
        if self._first is None:
            return
        if len(self._found) == 1:
            raise self._first
        inside = f"{self._source}: "
        raise ConfigError(
            listed(
                self._source,
                [
                    text if place == self._source else f"{place.removeprefix(inside)}: {text}"
                    for text, place in self._found.items()
                ],
            )
        )
