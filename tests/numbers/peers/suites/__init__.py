"""Tests of other tools, run with sqlrank in the place of the tool."""
