"""The papers' equations as pure functions of ``(model, q, v)``."""
