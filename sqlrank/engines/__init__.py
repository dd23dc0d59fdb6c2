"""Run statements: connections, sessions and their limits, and the tables, files and Arrow data that
they read.
"""
