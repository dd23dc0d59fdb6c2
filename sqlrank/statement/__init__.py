"""From files to one statement: trees in, a tree out, and no database."""
