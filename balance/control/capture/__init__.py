"""Our own law, docs/capture.md."""

from balance.control.capture.law import CaptureController

__all__ = ["CaptureController"]
