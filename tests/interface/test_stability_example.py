"""The example of stability: coefficients of variation over bootstrap samples, as a table and as a
chart.
"""

import re
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "stability.py"


@pytest.mark.slow
def test_coefficients_of_variation(tmp_path, capsys):
    """The bootstrap standard errors of docs/confidence.md, from the replicates of sqlrank, agree
    within the noise of 20 samples.
    """
    runpy.run_path(str(SCRIPT))["main"](
        ["--samples", "20", "--picture", str(tmp_path / "stability.svg")]
    )
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split() == ["rows", "clicks", "AUC", "nDCG", "LogLoss", "PnDCG"]
    assert [row.split()[:2] for row in rows] == [["5000", "25"], ["20000", "100"], ["40000", "207"]]
    auc, _, log_loss, pndcg = (float(share.rstrip("%")) for share in rows[0].split()[3::2])
    assert auc == pytest.approx(100 * 0.074 / 0.565, rel=0.5)
    assert log_loss == pytest.approx(100 * 0.0047 / 0.0300, rel=0.5)
    assert pndcg == pytest.approx(100 * 0.059 / 0.200, rel=0.5)
    texts = re.findall(
        r"<text[^>]*>([^<]+)</text>", (tmp_path / "stability.svg").read_text("utf-8")
    )
    assert {
        "Coefficient of variation over bootstrap samples", "AUC", "nDCG", "LogLoss", "PnDCG",
        "25", "100", "207",
    } <= {*texts}  # fmt: skip
