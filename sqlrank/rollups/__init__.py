"""Store mergeable aggregates per day, group and bin of the score, and evaluate metrics from
them.
"""
