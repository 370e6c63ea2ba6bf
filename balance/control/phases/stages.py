"""The stages of a sequence of stances: what bears, what opens, what moves; each with its law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from balance.config import BalancingLawConfig, ExperimentConfig, section_of
from balance.config.tasks import FrameTaskConfig
from balance.control.parts.guidance import limb_task
from balance.control.parts.output import Controller
from balance.control.parts.safety_frame import BalancingLaw
from balance.control.parts.wrench_law import WrenchLaw
from balance.errors import ConfigError
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.same_body import carries_foot
from balance.robots.sequence import LimbMove, PlannedPhase

MakeLaw = Callable[[ExperimentConfig, Robot], Controller]

PHASE_LAWS = ("whole_body_qp", "hierarchical")
SOLE_LAWS = ("momentum", "ott2011", "virtual_model")  # where nothing but soles bears
LIMB_HZ, LIMB_DAMPING = 6.0, 1.0  # with which a limb follows its path
UNBOUNDED_WEIGHTS = 20.0  # of the robot: a normal force that no contact reaches


@dataclass(frozen=True)
class Stage:
    """A part of a phase with one set of contacts, those of ``robot``, and the law for it.

    ``opening`` are contacts that still bear but are to be unloaded: the next stage is without them.
    ``moves`` are limbs on their way; those named in ``led`` have a task that leads them, the others
    go along with the posture.
    """

    phase: int
    robot: Robot
    law: BalancingLaw
    opening: frozenset[str]
    moves: tuple[LimbMove, ...]
    led: frozenset[str] = frozenset()

    @property
    def contacts(self) -> frozenset[str]:
        """Names of the surfaces that bear."""
        return frozenset(surface.name for surface in self.robot.soles)

    @property
    def longest_s(self) -> float:
        """The time (s) that limbs take at least."""
        return max((move.duration for move in self.moves), default=0.0)


def make_stages(
    config: ExperimentConfig, phases: Sequence[PlannedPhase], make: MakeLaw
) -> list[Stage]:
    """All stages in order, their laws made once.

    A phase that opens contacts begins with a stage in which they still bear.
    """
    stages: list[Stage] = []
    before: Robot | None = None
    for index, phase in enumerate(phases):
        bears = {surface.name for surface in phase.robot.soles}
        left = [] if before is None else [s for s in before.soles if s.name not in bears]
        if before is not None and left:
            both = replace(before, soles=(*phase.robot.soles, *left))
            opening = frozenset(surface.name for surface in left)
            stages.append(Stage(index, both, _law(config, both, (), make), opening, ()))
        led = [move for move in phase.moves if _is_led(phase.robot, move)]
        law = _law(config, phase.robot, led, make)
        names = frozenset(move.surface for move in led)
        stages.append(Stage(index, phase.robot, law, frozenset(), phase.moves, names))
        before = phase.robot
    return stages


def _law(
    config: ExperimentConfig, robot: Robot, moves: Sequence[LimbMove], make: MakeLaw
) -> BalancingLaw:
    """The law of the config for a set of contacts whose normal forces will be bounded."""
    law = section_of(config, BalancingLawConfig)
    most = UNBOUNDED_WEIGHTS * robot.mass * 9.81
    contacts = law.contacts.model_copy(
        update={"max_normal_force_N": law.contacts.max_normal_force_N or most}
    )
    law = law.model_copy(update={"contacts": contacts})
    known = {surface.name: surface for surface in robot.surfaces}
    limbs = {}
    for move in moves:
        surface = known[move.surface]
        name, limb = limb_task(move.surface), _limb(surface)
        firm = carries_foot(robot, surface)
        law, limbs[name] = law.with_limb(name, limb, firm=firm), limb
    made = make(config.model_copy(update={"controller": law}), robot)
    if not (isinstance(made, BalancingLaw) and made.can_change_contacts):
        raise ConfigError(
            f"controller.law = '{law.law}' stands on the contacts that it is made for, and phases "
            f"change them; take one of {', '.join((*PHASE_LAWS, *SOLE_LAWS))}"
        )
    if isinstance(made, WrenchLaw):
        other = [surface.name for surface in robot.soles if not surface.is_foot]
        if other:
            raise ConfigError(
                f"controller.law = '{law.law}' goes through phases on soles alone, and the "
                f"{other[0]} bears too; take one of {', '.join(PHASE_LAWS)}"
            )
        made.lead_limbs(limbs)
    return made


def _is_led(robot: Robot, move: LimbMove) -> bool:
    """Whether a limb needs a task of its own on its way.

    A foot does, and a hand that comes to a contact.  A hand in the air goes where the posture has
    it; and what is between the base and a bearing contact, as a thigh, has no motion of its own.
    """
    surface = next(one for one in robot.surfaces if one.name == move.surface)
    joint = robot.model.frames[surface.frame_id].parentJoint
    bearing = (robot.model.frames[sole.frame_id].parentJoint for sole in robot.soles)
    if any(joint in robot.model.supports[other] for other in bearing):
        return False
    return surface.is_foot or move.on is not None


def _limb(surface: ContactSurface) -> FrameTaskConfig:
    return FrameTaskConfig(
        frame=surface.frame,
        hold="pose" if len(surface.held) > 3 else "position",
        frequency_hz=LIMB_HZ,
        damping_ratio=LIMB_DAMPING,
        joints_follow=True,
    )
