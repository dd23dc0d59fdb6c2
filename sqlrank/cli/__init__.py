"""Parse the command line and call the public functions."""
