"""Read the SQL files and what they declare: metrics, relations, functions, roles, policies and plans."""
