"""Tests of single parts: the text of metrics, files of metrics, inputs, checks, limits, the command
line, connections, learning.
"""
