"""Pictures of the documentation that data decide: ``python -m website.pictures`` draws intervals
of simulated samples, the charts of docs/charts.md, and a picture of the demo report.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import sqlrank
from website import gallery
from website.linked_pages import ROOT
from website.page_templates import render_template

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ASSETS = ROOT / "docs" / "assets"
REPORT_SIZE, REPORT_SCALE = "700,900", 2
"""Width and height of the picture of the report in pixels of a page, narrow enough to be read on a
phone, and pixels of the picture for each.
"""


def draw_coverage() -> str:
    """Return intervals of 20 samples by rows and by users, beside the true value."""
    samples, truth = _simulate_clicks()
    panels = {
        f"unit: the {unit}": sqlrank.evaluate(
            "LogLoss", predictions=samples, by="sample", confidence=0.95, unit=column
        ).to_pylist()
        for unit, column in (("row", None), ("user", "user_id"))
    }
    return render_template("coverage.svg", panels=panels, truth=truth)


def _simulate_clicks(
    n_samples: int = 20, n_users: int = 100, n_rows: int = 21
) -> tuple[pa.Table, float]:
    """Return samples of users with several rows each, whose click rates differ, and the LogLoss of
    all users.
    """
    draws = np.random.default_rng(5)
    rates = draws.beta(0.6, 1.4, size=(n_samples, n_users))
    labels = (draws.random((n_samples, n_users, n_rows)) < rates[:, :, None]).astype(int).ravel()
    sample, user = (index.ravel() for index in np.indices((n_samples, n_users, n_rows))[:2])
    truth = -(0.3 * np.log(0.3) + 0.7 * np.log(0.7))
    columns = {"sample": sample, "user_id": user, "label": labels}
    return pa.table(columns | {"score": np.full(len(labels), 0.3)}), float(truth)


def find_charts() -> Iterator[tuple[Path, Path]]:
    """Yield each chart of docs/assets with the file that its commands draw."""
    for place, drawn in gallery.drawn_files().items():
        yield from ((stored, drawn) for stored in ASSETS.rglob(place.rpartition("/")[2]))


def main() -> None:
    """Write the pictures; that of the report needs Chromium."""
    (ASSETS / "coverage.svg").write_text(draw_coverage(), "utf-8")
    for stored, drawn in find_charts():
        shutil.copyfile(drawn, stored)
    report = gallery.drawn_files()[gallery.REPORT].as_uri()
    picture = f"--screenshot={ASSETS / 'report.png'}"
    flags = (
        *("--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={REPORT_SIZE}"),
        f"--force-device-scale-factor={REPORT_SCALE}",
    )
    subprocess.run(["chromium", *flags, picture, report], check=True)  # noqa: S603, S607


if __name__ == "__main__":
    main()
