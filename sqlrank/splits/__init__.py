"""Assign rows to train and test parts, or to the arms of an experiment, alike on every engine."""
