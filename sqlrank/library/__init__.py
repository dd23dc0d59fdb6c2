"""What can be asked for: metrics, the files they are made of, and what is said of them."""
