"""``balance theory``: every identity of the papers as a number, on random states of a robot."""

from balance.analysis.theory.table import CHECKS, Row, all_hold, print_table, residual_table

__all__ = ["CHECKS", "Row", "all_hold", "print_table", "residual_table"]
