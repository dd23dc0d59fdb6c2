"""Rows put into train and test, or into the arms of an experiment, the same on every engine."""
