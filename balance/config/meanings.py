"""What the keys of our YAML files mean: the text below each key in the class that declares it.

A text may give a unit in brackets and end with an example::

    joint_damping: NonNegative = 0.0
    \"\"\"Viscous friction of the joints [N m s/rad]. Example: 0.5.\"\"\"

A unit that the key itself ends with, as in ``duration_s``, need not be repeated; ``[-]`` is for
numbers without one.  The texts are read from the source when somebody asks, because reading them
for every class would make each start of the program slower.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

NO_UNIT = "-"
_SUFFIXES = {
    "_rad_s": "rad/s", "_s": "s", "_m": "m", "_rad": "rad", "_deg": "degrees", "_hz": "Hz",
    "_kg": "kg", "_N": "N", "_Nm": "N m", "_Ns": "N s", "_J": "J",
}  # fmt: skip
_UNIT = re.compile(r"\s*\[([^\]]+)\]")
_EXAMPLE = re.compile(r"\s*Example: (.+)\.$")


@dataclass(frozen=True)
class Meaning:
    """What a key means, the unit of its numbers, and an example in YAML; "" where there is none."""

    text: str
    unit: str
    example: str = ""


def meaning(model: type[BaseModel], key: str) -> Meaning:
    """What a key of a section means; all is "" if its class does not say."""
    text = _texts(owner(model, key)).get(key, "")
    unit = unit_of_name(key)
    if found := _EXAMPLE.search(text):
        text = text[: found.start()]
    example = found[1] if found else ""
    if told := _UNIT.search(text):
        unit = told[1]
        text = text[: told.start()] + text[told.end() :]
    return Meaning(text, unit, example)


def unit_of_name(key: str) -> str:
    """The unit that a key ends with, as ``duration_s``; "" if it ends with none."""
    return next((unit for suffix, unit in _SUFFIXES.items() if key.endswith(suffix)), "")


def owner(model: type[BaseModel], key: str) -> type[BaseModel]:
    """The class that declares a key of ``model``, itself or one that it inherits from.

    A class that was made for one name of a registry fixes its tag, but says nothing about it.
    """
    declaring = [cls for cls in model.__mro__ if key in inspect.get_annotations(cls)]
    return next((cls for cls in declaring if key in _texts(cls)), (declaring or [model])[0])


@cache
def _texts(cls: type) -> dict[str, str]:
    """The text below each key that a class declares."""
    try:
        source = textwrap.dedent(inspect.getsource(cls))
    except (OSError, TypeError):  # made at run time, or its file is gone
        return {}
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    texts = {}
    for here, below in zip(body.body, body.body[1:], strict=False):
        if not (isinstance(here, ast.AnnAssign) and isinstance(here.target, ast.Name)):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            texts[here.target.id] = " ".join(str(below.value.value).split())
    return texts


class ToldSchema(GenerateJsonSchema):
    """JSON schema in which every key has its meaning, for editors that show it."""

    def model_schema(self, schema: Any) -> dict[str, Any]:
        """The schema of a section, with a description of each of its keys."""
        found = super().model_schema(schema)
        for key, item in found.get("properties", {}).items():
            told = meaning(schema["cls"], key)
            unit = f" [{told.unit}]" if told.unit not in ("", NO_UNIT) else ""
            if told.text:
                item["description"] = told.text.rstrip(".") + unit + "."
        return found
