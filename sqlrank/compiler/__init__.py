"""Compile the files of metrics to one SELECT tree, without a database."""
