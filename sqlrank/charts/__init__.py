"""Charts of results: Altair charts, of which the files are made without a network."""
