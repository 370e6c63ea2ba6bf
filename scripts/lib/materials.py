"""The bill of materials of an installed environment, as CycloneDX 1.6."""

from __future__ import annotations

import json
import uuid
from importlib.metadata import distribution
from typing import Any

from lib.packages import closure, licence, parts, plain
from packaging.requirements import Requirement

import balance

NAME = "pin-balance"
NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # of RFC 4122, for addresses


def bill(extras: list[str] | None = None) -> dict[str, Any]:
    """What the package and ``extras``, by default all, brought here; the same here twice."""
    wanted = parts()
    chosen = ["core", *(wanted if extras is None else extras)]
    lines = [line for part in dict.fromkeys(chosen) for line in wanted[part]]
    found = closure([Requirement(line) for line in lines])
    direct = {plain(Requirement(line).name) for line in lines} & set(found)
    components = [_component(name) for name in sorted(found)]
    refs = {name: _ref(name) for name in found}
    main = {
        "type": "application",
        "bom-ref": f"pkg:pypi/{NAME}@{balance.__version__}",
        "name": NAME,
        "version": balance.__version__,
        "licenses": [{"license": {"id": "BSD-2-Clause"}}],
    }
    content: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": main},
        "components": components,
        "dependencies": [
            {"ref": main["bom-ref"], "dependsOn": sorted(refs[name] for name in direct)},
            *(
                {"ref": refs[name], "dependsOn": sorted(refs[other] for other in found[name])}
                for name in sorted(found)
            ),
        ],
    }
    number = uuid.uuid5(NAMESPACE, json.dumps(content, sort_keys=True))
    return {"serialNumber": f"urn:uuid:{number}", **content}


def _ref(name: str) -> str:
    return f"pkg:pypi/{name}@{distribution(name).version}"


def _component(name: str) -> dict[str, Any]:
    """A distribution; its licence by SPDX where it says so, else in its own words."""
    found = distribution(name)
    stated = found.metadata.get("License-Expression")
    terms: dict[str, Any] = (
        {"expression": stated} if stated else {"license": {"name": licence(name)}}
    )
    return {
        "type": "library",
        "bom-ref": _ref(name),
        "name": name,
        "version": found.version,
        "purl": _ref(name),
        "licenses": [terms],
    }
