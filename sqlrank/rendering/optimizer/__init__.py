"""Rewrite statements to the shorter form that an analyst would write, by passes that change no row
of the result.
"""
