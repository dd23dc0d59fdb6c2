"""Run ``sqlrank learn`` as ``python -m sqlrank.learn``."""

from __future__ import annotations

import sys

from sqlrank.__main__ import main

sys.argv.insert(1, "learn")
main()
