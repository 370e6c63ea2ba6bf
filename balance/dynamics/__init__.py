"""The papers' equations as pure functions of ``(model, q, v)``.

What docs/equations.md names is exported here.  Where a function has the name of its module
(``curvature``), the package's attribute is the function.
"""

from types import ModuleType

from balance.dynamics.base_flight import fly_with_base as fly_with_base
from balance.dynamics.base_frame import BaseChange as BaseChange
from balance.dynamics.base_frame import change_base as change_base
from balance.dynamics.base_velocity import BaseVelocity as BaseVelocity
from balance.dynamics.base_velocity import base_velocity as base_velocity
from balance.dynamics.centroidal_frame import centroidal_frame as centroidal_frame
from balance.dynamics.com_connection import ComConnection as ComConnection
from balance.dynamics.com_connection import com_connection as com_connection
from balance.dynamics.com_connection import com_curvature as com_curvature
from balance.dynamics.connection import LockedVelocity as LockedVelocity
from balance.dynamics.connection import MechanicalConnection as MechanicalConnection
from balance.dynamics.connection import MomentumMap as MomentumMap
from balance.dynamics.connection import locked_velocity as locked_velocity
from balance.dynamics.connection import mechanical_connection as mechanical_connection
from balance.dynamics.connection import momentum_map as momentum_map
from balance.dynamics.constrained_lagrange import (
    configuration_constraint as configuration_constraint,
)
from balance.dynamics.constrained_lagrange import constrained_motion as constrained_motion
from balance.dynamics.constraints import constraint_rank as constraint_rank
from balance.dynamics.constraints import contact_drift as contact_drift
from balance.dynamics.constraints import contact_jacobian as contact_jacobian
from balance.dynamics.contact import constrained_dynamics as constrained_dynamics
from balance.dynamics.contact import impact as impact
from balance.dynamics.contact import support as support
from balance.dynamics.curvature import curvature as curvature
from balance.dynamics.curvature import momentum_derivatives as momentum_derivatives
from balance.dynamics.decoupled import DecoupledDynamics as DecoupledDynamics
from balance.dynamics.decoupled import decoupled_dynamics as decoupled_dynamics
from balance.dynamics.decoupled import inverse_of_A_Q as inverse_of_A_Q
from balance.dynamics.differential_kinematics import Task as Task
from balance.dynamics.differential_kinematics import damped_inverse as damped_inverse
from balance.dynamics.differential_kinematics import (
    equal_priority_velocity as equal_priority_velocity,
)
from balance.dynamics.differential_kinematics import jacobian_rank as jacobian_rank
from balance.dynamics.differential_kinematics import null_space as null_space
from balance.dynamics.differential_kinematics import prioritised_velocity as prioritised_velocity
from balance.dynamics.differential_kinematics import (
    support_consistent_velocity as support_consistent_velocity,
)
from balance.dynamics.differential_kinematics import weighted_inverse as weighted_inverse
from balance.dynamics.falling_cat import falling_cat as falling_cat
from balance.dynamics.falling_cat import righting_bend as righting_bend
from balance.dynamics.falling_cat import righting_loop as righting_loop
from balance.dynamics.falling_cat import torques_without_momentum as torques_without_momentum
from balance.dynamics.fixed_base import FixedBase as FixedBase
from balance.dynamics.fixed_base import fixed_base as fixed_base
from balance.dynamics.floating_base_inverse_dynamics import (
    floating_base_torques as floating_base_torques,
)
from balance.dynamics.free_cut import free_cut_dynamics as free_cut_dynamics
from balance.dynamics.free_flight import Flight as Flight
from balance.dynamics.free_flight import free_flight as free_flight
from balance.dynamics.gauss import GaussDynamics as GaussDynamics
from balance.dynamics.gauss import gauss_dynamics as gauss_dynamics
from balance.dynamics.gauss.forward import applied_force as applied_force
from balance.dynamics.gauss.forward import motor_forces as motor_forces
from balance.dynamics.gauss.forward import multiplier_acceleration as multiplier_acceleration
from balance.dynamics.gauss.forward import projected_acceleration as projected_acceleration
from balance.dynamics.gauss.jacobians import body_jacobians as body_jacobians
from balance.dynamics.gauss.joints import joint_parts as joint_parts
from balance.dynamics.gauss.joints import joint_rate_map as joint_rate_map
from balance.dynamics.gauss.motion import integrate_gauss as integrate_gauss
from balance.dynamics.gauss.principle import GaussFunctional as GaussFunctional
from balance.dynamics.gauss.principle import gauss_functional as gauss_functional
from balance.dynamics.gauss.program import ChartProgram as ChartProgram
from balance.dynamics.gauss.state import chart_from_pinocchio as chart_from_pinocchio
from balance.dynamics.gauss.state import pinocchio_from_chart as pinocchio_from_chart
from balance.dynamics.generalised_forces import (
    actuator_generalised_force as actuator_generalised_force,
)
from balance.dynamics.generalised_forces import (
    external_generalised_force as external_generalised_force,
)
from balance.dynamics.generalised_forces import total_generalised_force as total_generalised_force
from balance.dynamics.generalised_jacobian import generalised_jacobian as generalised_jacobian
from balance.dynamics.hamel import HamelTerms as HamelTerms
from balance.dynamics.hamel import contact_parts as contact_parts
from balance.dynamics.hamel import hamel_forces as hamel_forces
from balance.dynamics.hamel import hamel_terms as hamel_terms
from balance.dynamics.hamel import potential_forces as potential_forces
from balance.dynamics.holonomy import holonomy_from_curvature as holonomy_from_curvature
from balance.dynamics.holonomy import loop_holonomy as loop_holonomy
from balance.dynamics.holonomy import turn_without_momentum as turn_without_momentum
from balance.dynamics.integrable_mechanisms import largest_curvature as largest_curvature
from balance.dynamics.integrable_mechanisms import rotor_satellite as rotor_satellite
from balance.dynamics.integrable_mechanisms import slider_satellite as slider_satellite
from balance.dynamics.inverse_kinematics import inverse_kinematics as inverse_kinematics
from balance.dynamics.inverse_kinematics import rotation_error as rotation_error
from balance.dynamics.inverse_kinematics import tracking_twist as tracking_twist
from balance.dynamics.inverse_kinematics import transpose_kinematics as transpose_kinematics
from balance.dynamics.joint_control import gains_of_oscillator as gains_of_oscillator
from balance.dynamics.joint_control import (
    gravity_compensated_torques as gravity_compensated_torques,
)
from balance.dynamics.joint_control import gravity_torques as gravity_torques
from balance.dynamics.joint_control import inverse_dynamics_tasks as inverse_dynamics_tasks
from balance.dynamics.joint_control import inverse_dynamics_torques as inverse_dynamics_torques
from balance.dynamics.joint_control import joint_feedback as joint_feedback
from balance.dynamics.joint_control import oscillator_of_gains as oscillator_of_gains
from balance.dynamics.joint_lock import JointLock as JointLock
from balance.dynamics.joint_lock import lock_joints as lock_joints
from balance.dynamics.kinematics import analytical_jacobian as analytical_jacobian
from balance.dynamics.kinematics import base_rate_map as base_rate_map
from balance.dynamics.kinematics import base_velocity_map as base_velocity_map
from balance.dynamics.kinematics import floating_base_jacobian as floating_base_jacobian
from balance.dynamics.kinematics import frame_coordinates as frame_coordinates
from balance.dynamics.kinematics import frame_placement as frame_placement
from balance.dynamics.kinematics import geometric_jacobian as geometric_jacobian
from balance.dynamics.kinematics import relative_jacobian as relative_jacobian
from balance.dynamics.kinetic_energy import kinetic_energy as kinetic_energy
from balance.dynamics.lagrange_poincare import LagrangePoincare as LagrangePoincare
from balance.dynamics.lagrange_poincare import lagrange_poincare as lagrange_poincare
from balance.dynamics.lagrangian import gravitational_energy as gravitational_energy
from balance.dynamics.lagrangian import lagrangian as lagrangian
from balance.dynamics.lagrangian import spring_energy as spring_energy
from balance.dynamics.lagrangian import spring_torques as spring_torques
from balance.dynamics.momentum import CentroidalMomentum as CentroidalMomentum
from balance.dynamics.momentum import centroidal_momentum as centroidal_momentum
from balance.dynamics.momentum import com_wrench_map as com_wrench_map
from balance.dynamics.momentum import (
    dynamically_consistent_inverse as dynamically_consistent_inverse,
)
from balance.dynamics.momentum import wrench_at_com as wrench_at_com
from balance.dynamics.noether import fibre_derivative as fibre_derivative
from balance.dynamics.noether import group_action as group_action
from balance.dynamics.noether import infinitesimal_generator as infinitesimal_generator
from balance.dynamics.noether import noether_momentum as noether_momentum
from balance.dynamics.notes_arms import planar_arm as planar_arm
from balance.dynamics.notes_arms import scara as scara
from balance.dynamics.notes_arms import scara_coordinates as scara_coordinates
from balance.dynamics.operational_space import EndEffectorDynamics as EndEffectorDynamics
from balance.dynamics.operational_space import end_effector_dynamics as end_effector_dynamics
from balance.dynamics.operational_space import (
    operational_space_torques as operational_space_torques,
)
from balance.dynamics.operational_space import selection as selection
from balance.dynamics.ott_model import OttModel as OttModel
from balance.dynamics.ott_model import ott_model as ott_model
from balance.dynamics.prioritised_kinematics import prioritised_kinematics as prioritised_kinematics
from balance.dynamics.projected_newton_euler import link_motion as link_motion
from balance.dynamics.projected_newton_euler import momentum_rates as momentum_rates
from balance.dynamics.projected_newton_euler import projected_newton_euler as projected_newton_euler
from balance.dynamics.representations import convert_velocity as convert_velocity
from balance.dynamics.representations import convert_wrench as convert_wrench
from balance.dynamics.rigid_body import mixed_inertia as mixed_inertia
from balance.dynamics.rigid_body import mixed_wrench as mixed_wrench
from balance.dynamics.shape_frame import frame_equation_residual as frame_equation_residual
from balance.dynamics.shape_frame import integrability_defect as integrability_defect
from balance.dynamics.shape_frame import shape_frame as shape_frame
from balance.dynamics.shape_frame import shape_frame_derivative as shape_frame_derivative
from balance.dynamics.soft_contact import soft_contact_force as soft_contact_force
from balance.dynamics.task_space_control import (
    compensated_task_space_torques as compensated_task_space_torques,
)
from balance.dynamics.task_space_control import (
    equal_priority_acceleration as equal_priority_acceleration,
)
from balance.dynamics.task_space_control import prioritised_acceleration as prioritised_acceleration
from balance.dynamics.task_space_control import small_rotation_error as small_rotation_error
from balance.dynamics.task_space_control import task_acceleration as task_acceleration
from balance.dynamics.task_space_control import task_space_torques as task_space_torques
from balance.dynamics.three_link import joint_trajectory as joint_trajectory
from balance.dynamics.three_link import three_link as three_link
from balance.dynamics.three_link import three_link_curvature as three_link_curvature
from balance.dynamics.transformations import homogeneous_matrix as homogeneous_matrix
from balance.dynamics.transformations import inverse_homogeneous as inverse_homogeneous
from balance.dynamics.transformations import point_acceleration as point_acceleration
from balance.dynamics.transformations import point_velocity as point_velocity
from balance.dynamics.transformations import transform_point as transform_point
from balance.dynamics.transformations import velocity_in_moving_axes as velocity_in_moving_axes
from balance.dynamics.virtual_constraint import constrained_connection as constrained_connection
from balance.dynamics.virtual_constraint import constrained_curvature as constrained_curvature
from balance.dynamics.virtual_forces import contact_map as contact_map
from balance.dynamics.virtual_forces import virtual_model_torques as virtual_model_torques

__all__ = [
    name
    for name, item in sorted(globals().items())
    if not name.startswith("_") and item is not ModuleType and not isinstance(item, ModuleType)
]
