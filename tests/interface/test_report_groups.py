"""Groups and thresholds of reports: shades of differences from all rows, the worst group first,
and confusion matrices for a slider.
"""

import json
import re
from html import unescape

import pyarrow as pa
import pytest

import sqlrank
from tests.interface.test_reports import Page

pytestmark = pytest.mark.slow

# Predictions of a are right, those of b wrong, and those of c as good as chance; in every group
# half of the labels are positive.
ROWS = [
    (group, place % 2, right)
    for group, right in (("a", 0.9), ("b", 0.1), ("c", 0.5))
    for place in range(100)
]
GROUPED = pa.table(
    {
        "g": [group for group, _, _ in ROWS],
        "label": [label for _, label, _ in ROWS],
        "score": [right if label else round(1 - right, 1) for _, label, right in ROWS],
    }
)


@pytest.fixture(scope="module")
def html() -> str:
    made = sqlrank.report("Brier", predictions=GROUPED, by="g", created_at="today")
    return str(made.html)


def test_groups_are_shaded_by_their_difference_from_all_rows(html):
    cells = re.findall(
        r'class="number ([a-z0-9 ]+)"><bdi>([\d.]+)',
        html.partition('id="group-0-rows"')[2].partition("</table>")[0],
    )
    # Brier scores .81, .25 and .01, of all rows .3567, by hand.
    assert cells == [
        ("heat worse3", "0.8100"),
        ("heat better1", "0.2500"),
        ("heat better2", "0.0100"),
    ]


def test_the_worst_group_is_first_with_its_interval(html):
    rows = Page(html).rows("group-0")
    assert [name for name, _ in rows] == ["b", "c", "a"]
    assert re.fullmatch(r"0\.8100 \(0\.7\d+ to 0\.8\d+\)", rows[0][1])


def test_a_slider_has_the_confusion_matrix_of_each_threshold(html):
    (rows,) = re.findall(r'<option data-rows="([^"]*)">all predictions</option>', html)
    # Scores .1, .5 and .9 with 100 rows each, half of .5 positive; at .1 all are positive.
    # Threshold, tp, fp, tn, fn.
    assert json.loads(unescape(rows)) == [
        [0.1, 150, 150, 0, 0],
        [0.5, 100, 100, 50, 50],
        [0.9, 50, 50, 100, 100],
    ]


def test_groups_by_an_expression_are_named_by_it():
    made = sqlrank.report("Brier", predictions=GROUPED, by="capital=UPPER(g)", created_at="today")
    header, first, *_ = Page(str(made.html)).tables["group-0-rows"]
    assert (header, first[0]) == (["capital", "Brier"], "B")
