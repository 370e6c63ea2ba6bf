"""Our own law, docs/capture.md."""

from balance.control.capture.law import TURN, CaptureController

__all__ = ["TURN", "CaptureController"]
