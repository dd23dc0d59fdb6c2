"""Choose the plan of a statement, from the engine and statistics of the tables; results do not depend on it."""
