"""Choose how a statement computes, from the engine and statistics of the tables; results do not depend on it."""
