"""Connect sqlrank with tools for evaluation and tracking, each an optional dependency of a module of its own."""
