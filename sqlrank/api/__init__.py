"""Provide the public functions that read rows or rollups."""
