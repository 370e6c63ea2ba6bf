"""``python -m balance.app.cli``: the command without its script."""

from balance.app.cli import main

main()
