"""Evaluate metrics of rows or rollups, print statements, compare systems, list metrics, and make
sources of queries: public functions.
"""
