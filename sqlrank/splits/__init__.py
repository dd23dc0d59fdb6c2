"""Assign rows to train and test parts, or to the arms of an experiment, equally on every engine."""
