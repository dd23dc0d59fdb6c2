"""Run ``sqlrank learn`` as ``python -m sqlrank.learn``."""

from __future__ import annotations

import sys

from sqlrank.cli.app import app

sys.argv.insert(1, "learn")
app()
