"""Formulas of metrics as MathML: well formed, and equal to the comment of the file."""

from xml.etree import ElementTree as ET

import pytest

from website import sections
from website.formulas import typeset_formulas
from website.metric_page import build_metric_page

FILES = {file.full_name: file for of in sections.group_by_section().values() for file in of}
ELEMENTS = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "mfrac", "msup", "msqrt", "munder", "msub",
}  # fmt: skip


def parse_formula(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314  it was written here


def write_formula(node: ET.Element) -> str:
    parts = [write_formula(child) for child in node]
    if node.tag in {"mfrac", "msup"}:
        return f"({parts[0]}){'/' if node.tag == 'mfrac' else '^'}({parts[1]})"
    if node.tag == "munder":
        return f"{parts[0]}[{parts[1]}]"
    if node.tag == "msub":
        return "_".join(parts)
    if node.tag == "msqrt":
        return f"sqrt({''.join(parts)})"
    return (node.text or "") + (" " if node.tag == "mrow" else "").join(parts)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("R@k = hits in the first k / relevant", "R@k = (hits in the first k)/(relevant)"),
        ("RHR@k = sum over i <= k of rel_i / i", "RHR@k = ∑[i ≤ k] (rel_i)/(i)"),
        (
            "nDCG@k = (sum over i <= k of gain(r_i) discount(i)) / the same sum over the ideal",
            "nDCG@k = (∑[i ≤ k] gain(r_i) discount(i))/(the same sum over the ideal)",
        ),
        ("J = Recall + Specificity - 1", "J = Recall + Specificity − 1"),
        ("RBP@k = (1 - p) sum over i <= k of p^(i-1)", "RBP@k = (1 − p) ∑[i ≤ k] (p)^(i − 1)"),
        ("E = max over bins B of |mean p in B - y|", "E = max[bins B] |mean p in B − y|"),
        ("S = sum of w p / sum w, of rows", "S = (∑ w p)/(∑ w), of rows"),
        ("L = -(b ln b) / sqrt(2 n)", "L = − (b ln b)/(sqrt(2 n))"),
    ],
)
def test_a_formula_of_the_literature_says_what_the_comment_says(line, text):
    (formula,) = typeset_formulas([line])
    assert "".join(write_formula(parse_formula(formula)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "line",
    [
        "mean of the ranks = of something", "X = hits / (relevant", "X = hits ; relevant",
        "X = sum over the documents", f"X = {'hits ' * 40}", "a sentence without a value",
    ],
)  # fmt: skip
def test_a_line_that_is_no_formula_is_an_error(line):
    with pytest.raises(ValueError, match=r".*"):
        typeset_formulas([line])


def test_terms_that_a_formula_defines_have_a_line_each():
    lines = ["K = (a - e) / (1 - e), e = sum of b, over classes,", "b = w (hits), w = p = q"]
    assert [
        "".join(write_formula(parse_formula(text)).split()) for text in typeset_formulas(lines)
    ] == ["K=(a−e)/(1−e)", "e=∑b,overclasses", "b=w(hits)", "w=p=q"]


def test_indented_lines_of_every_comment_are_formulas():
    formulas = [
        typeset_formulas([line[4:] for line in lines])
        for file in FILES.values()
        if (lines := [line for line in file.doc.splitlines()[1:] if line.startswith("    ")])
    ]
    assert len(formulas) > 200
    for formula in (formula for several in formulas for formula in several):
        assert {node.tag for node in parse_formula(formula).iter()} <= ELEMENTS


@pytest.mark.slow
def test_a_page_has_its_formula_if_its_file_has_one():
    (formula,) = typeset_formulas(["MAE = mean of |score - label|"])
    assert f'<div class="formula" tabindex="0" data-search-exclude>{formula}</div>' in (
        build_metric_page(FILES["MAE"])
    )
    assert "## Formula" not in build_metric_page(FILES["FN"])
