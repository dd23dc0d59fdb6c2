"""Prepare and run statements, and count what policies leave out of their results."""
