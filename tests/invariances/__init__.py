"""What must not change a number."""
