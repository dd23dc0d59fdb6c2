"""Where results go: a table or view of a database, a dbt model, or text."""
