"""What the demo is made of: the lock file, and the bill of materials of what is installed."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from lib.materials import bill
from lib.packages import parts, plain
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "scripts" / "demo.lock").read_text(encoding="utf-8")
ENTRY = re.compile(
    r"^([\w.-]+)==([\w.]+)( ; .+?)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)",
    re.MULTILINE,
)


def test_the_lock_holds_versions_and_hashes_and_nothing_else() -> None:
    rest = ENTRY.sub("", LOCK)
    assert all(line.startswith("# ") for line in rest.splitlines())
    assert "://" not in LOCK and "index" not in LOCK


def test_the_lock_has_what_the_core_and_its_build_need_within_their_bounds() -> None:
    locked = {(name, version) for name, version, _, _ in ENTRY.findall(LOCK)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for line in (*project["project"]["dependencies"], *project["build-system"]["requires"]):
        wanted = Requirement(line)
        versions = [version for name, version in locked if name == plain(wanted.name)]
        assert versions, f"{line} is not in scripts/demo.lock; run scripts/lock"
        assert all(wanted.specifier.contains(version) for version in versions)


def test_compiled_packages_have_a_hash_for_every_python_that_is_claimed() -> None:
    claimed = re.findall(
        r'":?.*:: (3\.\d+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    )
    hashes = {name: text.count("sha256:") for name, _, _, text in ENTRY.findall(LOCK)}
    assert len(claimed) > 1
    assert hashes["numpy"] == hashes["quadprog"] == len(claimed)


def test_the_bill_names_what_is_installed_and_who_needs_it() -> None:
    found = bill(["mujoco"])
    assert found["bomFormat"] == "CycloneDX"
    by_name = {one["name"]: one for one in found["components"]}
    assert by_name["mujoco"]["version"] == distribution("mujoco").version
    assert by_name["numpy"]["purl"] == f"pkg:pypi/numpy@{distribution('numpy').version}"
    assert all(one["licenses"][0] for one in found["components"])
    assert "pytest" not in by_name  # of another extra
    refs = {one["bom-ref"] for one in found["components"]}
    root, *others = found["dependencies"]
    assert root["ref"] == found["metadata"]["component"]["bom-ref"]
    named = {plain(Requirement(line).name) for line in (*parts()["core"], *parts()["mujoco"])}
    assert {ref.split("/")[1].split("@")[0] for ref in root["dependsOn"]} == named
    assert {one["ref"] for one in others} == refs
    assert all(set(one["dependsOn"]) <= refs for one in others)
    needs = {one["ref"].split("/")[1].split("@")[0]: one["dependsOn"] for one in others}
    assert by_name["numpy"]["bom-ref"] in needs["scipy"]


def test_the_bill_is_the_same_twice_and_reads_as_json() -> None:
    assert json.loads(json.dumps(bill([]))) == bill([])
    assert bill([])["serialNumber"] != bill(None)["serialNumber"]


def test_an_extra_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KeyError):
        bill(["nothing"])
