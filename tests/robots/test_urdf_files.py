"""Where the meshes of a user's URDF are looked for: in its own package, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from balance.errors import RobotError
from balance.robots.urdf_files import (
    check_references,
    package_folders,
    read_xml,
    referenced_file,
)

MESH = "package://my_robot/meshes/foot.stl"


def urdf_at(path: Path, mesh: str = MESH) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    geometry = f'<geometry><mesh filename="{mesh}"/></geometry>'
    path.write_text(f'<robot name="r"><link name="l"><visual>{geometry}</visual></link></robot>')
    return path


@pytest.mark.parametrize("place", ["my_robot/urdf/r.urdf", "my_robot/robots/r.urdf"])
def test_a_mesh_is_found_in_the_ros_package_that_holds_the_urdf(tmp_path: Path, place: str) -> None:
    urdf = urdf_at(tmp_path / place)
    foot = tmp_path / "my_robot" / "meshes" / "foot.stl"
    foot.parent.mkdir()
    foot.touch()
    packages = package_folders(urdf)
    check_references(read_xml(urdf), urdf, packages)
    assert referenced_file(MESH, urdf, packages) == foot


def test_deeper_below_a_package_its_description_says_where_it_begins(tmp_path: Path) -> None:
    urdf = urdf_at(tmp_path / "my_robot" / "a" / "b" / "r.urdf")
    assert package_folders(urdf) == (urdf.parent,)
    (tmp_path / "my_robot" / "package.xml").touch()
    assert package_folders(urdf) == (urdf.parent, tmp_path)


def test_a_folder_above_is_no_package_because_a_urdf_says_so(tmp_path: Path) -> None:
    """Else a file in somebody's home could name all other files there."""
    home = tmp_path / "home"
    name = "package://home/secret.stl"
    urdf = urdf_at(home / "downloads" / "r.urdf", name)
    packages = package_folders(urdf)
    assert packages == (urdf.parent,)
    assert referenced_file(name, urdf, packages) is None


@pytest.mark.parametrize("name", ["package://other/x.stl", "../../other/x.stl"])
def test_a_package_does_not_open_the_packages_beside_it(tmp_path: Path, name: str) -> None:
    urdf = urdf_at(tmp_path / "my_robot" / "urdf" / "r.urdf")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.stl").touch()
    packages = package_folders(urdf)
    assert tmp_path in packages
    urdf_at(urdf, name)
    with pytest.raises(RobotError, match="outside of its package"):
        check_references(read_xml(urdf), urdf, packages)
