"""Write SQL functions of metrics to install in a database: functions of tables, aggregates, and
functions of lists.
"""

from sqlrank.rendering.dialects import list_function_dialects

DEFAULT_SCHEMA = "sqlrank"
"""Schema of the functions."""

FUNCTION_DIALECTS = list_function_dialects()
"""Dialects for which there are functions."""
