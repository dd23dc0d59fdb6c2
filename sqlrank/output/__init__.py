"""Write results: files, tables of a database, dbt models, and text."""
