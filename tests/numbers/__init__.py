"""Numbers from outside: worked by hand, published, by formulas in NumPy, of other tools, and relations
between them that hold for any input.
"""
