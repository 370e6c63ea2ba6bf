"""What a person uses: the command line, the terminal, the live lab."""
