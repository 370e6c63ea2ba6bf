"""Studies: many experiments on workers, one table, one figure."""
