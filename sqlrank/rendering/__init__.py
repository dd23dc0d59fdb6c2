"""Write trees as SQL text, by layout and rewrites for each dialect."""
