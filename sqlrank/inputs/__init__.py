"""Bind inputs to tables: columns, filters, and the validation of rows."""
