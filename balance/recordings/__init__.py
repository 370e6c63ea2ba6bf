"""What a run leaves behind: signals, verdict, quantities, and the result folder."""
