"""Second implementations of the metrics, in plain Python and NumPy, and comparisons with them on
random data.
"""
