"""Read the SQL files and their declarations: metrics, relations, functions, roles, policies and
plans.
"""
