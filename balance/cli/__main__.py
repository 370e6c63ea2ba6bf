"""``python -m balance.cli``: the command without its script."""

from balance.cli import main

main()
