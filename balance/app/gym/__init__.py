"""The Gymnasium environment ``balance/Push-v0`` (extra ``gym``): train against the same world.

Importing this registers it, and so does Gymnasium itself once the package is installed::

    import gymnasium
    environment = gymnasium.make("balance/Push-v0", config="g1_push")
"""

from __future__ import annotations

from balance.errors import MissingExtraError

try:
    from gymnasium.envs.registration import register, registry
except ModuleNotFoundError:
    raise MissingExtraError("gymnasium", "gym") from None

NAME = "balance/Push-v0"


def register_environments() -> None:
    """Tell Gymnasium of the environment, once."""
    if NAME not in registry:
        register(id=NAME, entry_point="balance.app.gym.push:PushEnvironment")


register_environments()
