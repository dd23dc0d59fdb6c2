"""Check calls: their arguments and sources, and resolve them to metrics and settings."""
