"""Store mergeable aggregates per day, slice and bin of the score, and evaluate metrics from them."""
