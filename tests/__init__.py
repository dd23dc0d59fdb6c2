"""Tests of sqlrank."""
