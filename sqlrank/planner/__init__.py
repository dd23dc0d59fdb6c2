"""Choose the plan of a statement, on which no number depends, from the engine and statistics of the
tables.
"""
