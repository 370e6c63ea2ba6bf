"""A robot: its model, contact surfaces and cones, stance, posture and support polygon."""

from balance.robots.robot import Robot, load_robot, robot_files
from balance.robots.robot_file import RobotFile

__all__ = ["Robot", "RobotFile", "load_robot", "robot_files"]
