"""A robot: its model, contact surfaces and cones, stance, posture and support polygon."""

from balance.robots.robot import Robot, RobotFile, load_robot, robot_files

__all__ = ["Robot", "RobotFile", "load_robot", "robot_files"]
