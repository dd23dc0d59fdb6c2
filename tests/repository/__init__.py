"""Checks of the texts of this repository, its site and its release: part of ``make lint``."""
