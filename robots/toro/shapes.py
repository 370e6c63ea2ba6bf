"""What the TORO-like robot looks like: primitive shapes for each link.

The shapes are estimates, but for the sole rectangle and the top of the head at 1.7 m. They are
placed in the zero pose, x forward, z above the sole; the tables give the middle and right side.
"""

from dataclasses import dataclass, replace

Vec3 = tuple[float, float, float]

COLOURS = {
    "structure": "0.20 0.21 0.23 1",
    "cover": "0.90 0.91 0.92 1",
    "accent": "0.00 0.40 0.65 1",
}


@dataclass(frozen=True)
class Box:
    """A box, pitched about y through its centre: m and rad."""

    centre: Vec3
    size: Vec3
    pitch: float = 0.0


@dataclass(frozen=True)
class Cylinder:
    """A cylinder between the centres of its end faces, m."""

    start: Vec3
    end: Vec3
    radius: float


@dataclass(frozen=True)
class Sphere:
    """A sphere, m."""

    centre: Vec3
    radius: float


Shape = Box | Cylinder | Sphere


@dataclass(frozen=True)
class Part:
    """A shape that is drawn, and that also counts for collisions if `solid`."""

    shape: Shape
    material: str
    solid: bool = False


# fmt: off
SOLE = Box((0.040, -0.113, 0.006), (0.190, 0.095, 0.012))  # x -0.055 .. 0.135 from the ankle

PARTS = {
    "hip": (
        Part(Box((-0.010, 0, 1.085), (0.150, 0.220, 0.090)), "cover", solid=True),
        Part(Cylinder((0, 0, 1.100), (0, 0, 1.164), 0.075), "accent"),
    ),
    "trunk": (
        Part(Cylinder((0, 0, 1.164), (0, 0, 1.300), 0.072), "structure"),
        Part(Box((-0.020, 0, 1.320), (0.170, 0.250, 0.100)), "cover"),
        Part(Box((-0.020, 0, 1.420), (0.200, 0.340, 0.150)), "cover", solid=True),
        Part(Cylinder((-0.010, -0.170, 1.495), (-0.010, 0.170, 1.495), 0.080), "cover"),
        Part(Cylinder((0, -0.230, 1.510), (0, 0.230, 1.510), 0.050), "structure"),
        Part(Box((-0.155, 0, 1.390), (0.090, 0.260, 0.290)), "structure", solid=True),
        Part(Box((0.081, 0, 1.435), (0.006, 0.200, 0.030)), "accent"),
    ),
    "neck": (Part(Cylinder((0.045, 0, 1.500), (0.030, 0, 1.570), 0.040), "structure"),),
    "head": (
        Part(Sphere((0.030, 0, 1.615), 0.085), "cover", solid=True),
        Part(Cylinder((0.030, 0, 1.555), (0.030, 0, 1.615), 0.085), "cover"),
        Part(Box((0.080, 0, 1.622), (0.074, 0.124, 0.044)), "structure"),
    ),
    "hip_cross": (
        Part(Cylinder((-0.080, -0.100, 1.039), (0.080, -0.100, 1.039), 0.062), "structure"),
        Part(Cylinder((0, -0.105, 1.010), (0, -0.135, 0.919), 0.060), "structure"),
        Part(Cylinder((0, -0.210, 0.919), (0, -0.060, 0.919), 0.055), "accent"),
    ),
    "upper_thigh": (
        Part(Sphere((0, -0.135, 0.919), 0.074), "cover"),
        Part(Cylinder((0, -0.135, 0.760), (0, -0.135, 0.919), 0.074), "cover", solid=True),
    ),
    "lower_thigh": (
        Part(Cylinder((0, -0.135, 0.730), (0, -0.135, 0.760), 0.068), "accent"),
        Part(Cylinder((0, -0.135, 0.519), (0, -0.135, 0.730), 0.064), "structure", solid=True),
    ),
    "shank": (
        Part(Cylinder((0, -0.210, 0.519), (0, -0.060, 0.519), 0.055), "accent"),
        Part(Cylinder((0, -0.205, 0.519), (0, -0.065, 0.519), 0.068), "structure", solid=True),
        Part(Cylinder((0, -0.124, 0.320), (0, -0.133, 0.480), 0.064), "cover", solid=True),
        Part(Cylinder((0, -0.114, 0.150), (0, -0.124, 0.320), 0.050), "cover", solid=True),
    ),
    "ankle_cross": (
        Part(Cylinder((-0.050, -0.113, 0.119), (0.050, -0.113, 0.119), 0.026), "structure"),
    ),
    "foot": (
        Part(SOLE, "structure", solid=True),
        Part(Box((0.035, -0.113, 0.029), (0.170, 0.088, 0.034)), "cover"),
        Part(Box((0.028, -0.113, 0.058), (0.110, 0.080, 0.040), pitch=0.35), "cover"),
        Part(Box((-0.004, -0.113, 0.070), (0.070, 0.080, 0.070)), "cover"),
        Part(Cylinder((0, -0.157, 0.119), (0, -0.069, 0.119), 0.036), "accent"),
    ),
    "shoulder_block": (Part(Sphere((0.005, -0.255, 1.520), 0.072), "structure"),),
    "shoulder_cross": (Part(Sphere((0.054, -0.259, 1.520), 0.068), "accent", solid=True),),
    "upper_arm": (
        Part(Cylinder((0.082, -0.259, 1.230), (0.058, -0.259, 1.480), 0.054), "cover", solid=True),
    ),
    "elbow_block": (
        Part(Cylinder((0.084, -0.317, 1.207), (0.084, -0.201, 1.207), 0.050), "accent", solid=True),
        Part(Cylinder((0.076, -0.256, 1.120), (0.084, -0.259, 1.207), 0.040), "structure"),
    ),
    "forearm": (
        Part(Cylinder((0.058, -0.249, 0.920), (0.077, -0.256, 1.140), 0.046), "cover", solid=True),
        Part(Cylinder((0.056, -0.248, 0.890), (0.058, -0.249, 0.920), 0.048), "accent"),
        Part(Sphere((0.068, -0.248, 0.845), 0.034), "structure"),
    ),
    "hand": (
        Part(Box((0.068, -0.248, 0.785), (0.080, 0.034, 0.090)), "structure", solid=True),
        Part(Box((0.066, -0.244, 0.715), (0.072, 0.024, 0.070)), "structure", solid=True),
        Part(Box((0.116, -0.244, 0.780), (0.022, 0.024, 0.060)), "structure"),
    ),
}
# fmt: on


def reflect_point(p: Vec3) -> Vec3:
    """The mirror image of a point in the sagittal plane."""
    return (p[0], -p[1], p[2])


def reflect_part(part: Part) -> Part:
    """The left part that belongs to a right one."""
    match part.shape:
        case Cylinder(start, end, radius):
            shape: Shape = Cylinder(reflect_point(start), reflect_point(end), radius)
        case shape:
            shape = replace(shape, centre=reflect_point(shape.centre))
    return replace(part, shape=shape)
