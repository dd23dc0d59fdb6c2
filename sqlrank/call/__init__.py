"""Check the arguments of calls, recognize their sources, and resolve them to metrics and settings."""
