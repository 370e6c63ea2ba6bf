"""The papers' equations as pure functions of ``(model, q, v)``.

What docs/equations.md names is exported here.  Where a function has the name of its module
(``curvature``), the package's attribute is the function.
"""

from __future__ import annotations

from balance.dynamics.base_flight import fly_with_base
from balance.dynamics.base_frame import (
    BaseChange,
    change_base,
)
from balance.dynamics.base_velocity import (
    BaseVelocity,
    base_velocity,
)
from balance.dynamics.centroidal_frame import centroidal_frame
from balance.dynamics.com_connection import (
    ComConnection,
    com_connection,
    com_curvature,
)
from balance.dynamics.connection import (
    LockedVelocity,
    MechanicalConnection,
    MomentumMap,
    locked_velocity,
    mechanical_connection,
    momentum_map,
)
from balance.dynamics.constrained_lagrange import configuration_constraint, constrained_motion
from balance.dynamics.constraints import (
    constraint_rank,
    contact_drift,
    contact_jacobian,
)
from balance.dynamics.contact import (
    constrained_dynamics,
    impact,
    support,
)
from balance.dynamics.curvature import (
    curvature,
    momentum_derivatives,
)
from balance.dynamics.decoupled import (
    DecoupledDynamics,
    decoupled_dynamics,
    inverse_of_A_Q,
)
from balance.dynamics.differential_kinematics import (
    Task,
    damped_inverse,
    equal_priority_velocity,
    jacobian_rank,
    null_space,
    prioritised_velocity,
    support_consistent_velocity,
    weighted_inverse,
)
from balance.dynamics.falling_cat import (
    falling_cat,
    righting_bend,
    righting_loop,
    torques_without_momentum,
)
from balance.dynamics.fixed_base import (
    FixedBase,
    fixed_base,
)
from balance.dynamics.floating_base_inverse_dynamics import floating_base_torques
from balance.dynamics.free_cut import free_cut_dynamics
from balance.dynamics.free_flight import (
    Flight,
    free_flight,
)
from balance.dynamics.gauss import (
    GaussDynamics,
    gauss_dynamics,
)
from balance.dynamics.gauss.forward import (
    applied_force,
    motor_forces,
    multiplier_acceleration,
    projected_acceleration,
)
from balance.dynamics.gauss.jacobians import body_jacobians
from balance.dynamics.gauss.joints import joint_parts, joint_rate_map
from balance.dynamics.gauss.motion import integrate_gauss
from balance.dynamics.gauss.principle import GaussFunctional, gauss_functional
from balance.dynamics.gauss.program import ChartProgram
from balance.dynamics.gauss.state import (
    chart_from_pinocchio,
    pinocchio_from_chart,
)
from balance.dynamics.generalised_forces import (
    actuator_generalised_force,
    external_generalised_force,
    total_generalised_force,
)
from balance.dynamics.generalised_jacobian import generalised_jacobian
from balance.dynamics.hamel import (
    HamelTerms,
    contact_parts,
    hamel_forces,
    hamel_terms,
    potential_forces,
)
from balance.dynamics.holonomy import (
    holonomy_from_curvature,
    loop_holonomy,
    turn_without_momentum,
)
from balance.dynamics.integrable_mechanisms import (
    largest_curvature,
    rotor_satellite,
    slider_satellite,
)
from balance.dynamics.inverse_kinematics import (
    inverse_kinematics,
    rotation_error,
    tracking_twist,
    transpose_kinematics,
)
from balance.dynamics.joint_control import (
    gains_of_oscillator,
    gravity_compensated_torques,
    gravity_torques,
    inverse_dynamics_tasks,
    inverse_dynamics_torques,
    joint_feedback,
    oscillator_of_gains,
)
from balance.dynamics.joint_lock import (
    JointLock,
    lock_joints,
)
from balance.dynamics.kinematics import (
    analytical_jacobian,
    base_rate_map,
    base_velocity_map,
    floating_base_jacobian,
    frame_coordinates,
    frame_placement,
    geometric_jacobian,
    relative_jacobian,
)
from balance.dynamics.kinetic_energy import kinetic_energy
from balance.dynamics.lagrange_poincare import (
    LagrangePoincare,
    lagrange_poincare,
)
from balance.dynamics.lagrangian import (
    gravitational_energy,
    lagrangian,
    spring_energy,
    spring_torques,
)
from balance.dynamics.momentum import (
    CentroidalMomentum,
    centroidal_momentum,
    com_wrench_map,
    dynamically_consistent_inverse,
    wrench_at_com,
)
from balance.dynamics.noether import (
    fibre_derivative,
    group_action,
    infinitesimal_generator,
    noether_momentum,
)
from balance.dynamics.notes_arms import planar_arm, scara, scara_coordinates
from balance.dynamics.operational_space import (
    EndEffectorDynamics,
    end_effector_dynamics,
    operational_space_torques,
    selection,
)
from balance.dynamics.ott_model import (
    OttModel,
    ott_model,
)
from balance.dynamics.prioritised_kinematics import prioritised_kinematics
from balance.dynamics.projected_newton_euler import (
    link_motion,
    momentum_rates,
    projected_newton_euler,
)
from balance.dynamics.representations import (
    convert_velocity,
    convert_wrench,
)
from balance.dynamics.rigid_body import (
    mixed_inertia,
    mixed_wrench,
)
from balance.dynamics.shape_frame import (
    frame_equation_residual,
    integrability_defect,
    shape_frame,
    shape_frame_derivative,
)
from balance.dynamics.soft_contact import soft_contact_force
from balance.dynamics.task_space_control import (
    compensated_task_space_torques,
    equal_priority_acceleration,
    prioritised_acceleration,
    small_rotation_error,
    task_acceleration,
    task_space_torques,
)
from balance.dynamics.three_link import (
    joint_trajectory,
    three_link,
    three_link_curvature,
)
from balance.dynamics.transformations import (
    homogeneous_matrix,
    inverse_homogeneous,
    point_acceleration,
    point_velocity,
    transform_point,
    velocity_in_moving_axes,
)
from balance.dynamics.virtual_constraint import (
    constrained_connection,
    constrained_curvature,
)
from balance.dynamics.virtual_forces import contact_map, virtual_model_torques

__all__ = [
    "BaseChange",
    "BaseVelocity",
    "CentroidalMomentum",
    "ChartProgram",
    "ComConnection",
    "DecoupledDynamics",
    "EndEffectorDynamics",
    "FixedBase",
    "Flight",
    "GaussDynamics",
    "GaussFunctional",
    "HamelTerms",
    "JointLock",
    "LagrangePoincare",
    "LockedVelocity",
    "MechanicalConnection",
    "MomentumMap",
    "OttModel",
    "Task",
    "actuator_generalised_force",
    "analytical_jacobian",
    "applied_force",
    "base_rate_map",
    "base_velocity",
    "base_velocity_map",
    "body_jacobians",
    "centroidal_frame",
    "centroidal_momentum",
    "change_base",
    "chart_from_pinocchio",
    "com_connection",
    "com_curvature",
    "com_wrench_map",
    "compensated_task_space_torques",
    "configuration_constraint",
    "constrained_connection",
    "constrained_curvature",
    "constrained_dynamics",
    "constrained_motion",
    "constraint_rank",
    "contact_drift",
    "contact_jacobian",
    "contact_map",
    "contact_parts",
    "convert_velocity",
    "convert_wrench",
    "curvature",
    "damped_inverse",
    "decoupled_dynamics",
    "dynamically_consistent_inverse",
    "end_effector_dynamics",
    "equal_priority_acceleration",
    "equal_priority_velocity",
    "external_generalised_force",
    "falling_cat",
    "fibre_derivative",
    "fixed_base",
    "floating_base_jacobian",
    "floating_base_torques",
    "fly_with_base",
    "frame_coordinates",
    "frame_equation_residual",
    "frame_placement",
    "free_cut_dynamics",
    "free_flight",
    "gains_of_oscillator",
    "gauss_dynamics",
    "gauss_functional",
    "generalised_jacobian",
    "geometric_jacobian",
    "gravitational_energy",
    "gravity_compensated_torques",
    "gravity_torques",
    "group_action",
    "hamel_forces",
    "hamel_terms",
    "holonomy_from_curvature",
    "homogeneous_matrix",
    "impact",
    "infinitesimal_generator",
    "integrability_defect",
    "integrate_gauss",
    "inverse_dynamics_tasks",
    "inverse_dynamics_torques",
    "inverse_homogeneous",
    "inverse_kinematics",
    "inverse_of_A_Q",
    "jacobian_rank",
    "joint_feedback",
    "joint_parts",
    "joint_rate_map",
    "joint_trajectory",
    "kinetic_energy",
    "lagrange_poincare",
    "lagrangian",
    "largest_curvature",
    "link_motion",
    "lock_joints",
    "locked_velocity",
    "loop_holonomy",
    "mechanical_connection",
    "mixed_inertia",
    "mixed_wrench",
    "momentum_derivatives",
    "momentum_map",
    "momentum_rates",
    "motor_forces",
    "multiplier_acceleration",
    "noether_momentum",
    "null_space",
    "operational_space_torques",
    "oscillator_of_gains",
    "ott_model",
    "pinocchio_from_chart",
    "planar_arm",
    "point_acceleration",
    "point_velocity",
    "potential_forces",
    "prioritised_acceleration",
    "prioritised_kinematics",
    "prioritised_velocity",
    "projected_acceleration",
    "projected_newton_euler",
    "relative_jacobian",
    "righting_bend",
    "righting_loop",
    "rotation_error",
    "rotor_satellite",
    "scara",
    "scara_coordinates",
    "selection",
    "shape_frame",
    "shape_frame_derivative",
    "slider_satellite",
    "small_rotation_error",
    "soft_contact_force",
    "spring_energy",
    "spring_torques",
    "support",
    "support_consistent_velocity",
    "task_acceleration",
    "task_space_torques",
    "three_link",
    "three_link_curvature",
    "torques_without_momentum",
    "total_generalised_force",
    "tracking_twist",
    "transform_point",
    "transpose_kinematics",
    "turn_without_momentum",
    "velocity_in_moving_axes",
    "virtual_model_torques",
    "weighted_inverse",
    "wrench_at_com",
]
