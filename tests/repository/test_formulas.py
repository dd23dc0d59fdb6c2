"""Formulas of metrics as MathML: well formed, and equal to the expression of the file."""

from xml.etree import ElementTree as ET

import pytest

from sqlrank.registry.loader import load_registry
from website import families
from website.formulas import MOST, typeset_formula
from website.literature_formulas import typeset_literature
from website.metric_page import build_metric_page

FILES = {file.full_name: file for of in families.group_by_family().values() for file in of}
ELEMENTS = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "mfrac", "msup", "msqrt", "munder", "mtable",
    "mtr", "mtd",
}  # fmt: skip


def read_formula(name: str) -> str:
    """Return a formula as text: a fraction as a / b, a power as ^, a radicand in [], cases in
    {}.
    """
    return write_formula(parse_formula(typeset_formula(FILES[name]))).replace("\u00a0", " ")


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
    if node.tag == "mtable":
        return "{" + "; ".join(parts) + "}"
    joined = (" " if node.tag in {"mtr", "mrow"} else "").join(parts)
    return (node.text or "") + joined


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nDCG", "nDCG = (∑[rank ≤ k] discounted_gain)/(∑[ideal_rank ≤ k] ideal_discounted_gain)"),
        ("RR", "RR = max {reciprocal_rank if  rank ≤ k; 0 otherwise}"),
        ("Brier", "Brier = (∑ weight ⋅ (( score − label ))^(2))/(∑ weight)"),
        ("ECE", "ECE = (∑ | score_sum − label_sum |)/(∑ weight)"),
        (
            "AUC",
            (
                "AUC = (∑ positives ⋅ ( negatives_below + tie_credit ⋅ negatives ))/(∑ positives ⋅"
                " ( negatives_below + tie_credit ⋅ negatives ) + ∑ positives ⋅ ( negatives_above +"
                " ( 1 − tie_credit ) ⋅ negatives ))"
            ),
        ),
        ("LogLoss", "LogLoss = (− ∑ weight ⋅ log_likelihood ( label , score ))/(∑ weight)"),
        ("RMSE", "RMSE = sqrt((∑ weight ⋅ (( score − label ))^(2))/(∑ weight))"),
        ("Elbow", "Elbow = max[elbow_rank = 1  and  elbow_height > 0] cutoff"),
        # A total before another factor is in brackets, and so is what is subtracted.
        (
            "BrierSkill",
            (
                "BrierSkill = 1 − (∑ weight ⋅ (( score − label ))^(2))/(( ∑ weight ⋅ label ) ⋅ (∑"
                " weight ⋅ ( 1 − label ))/(∑ weight))"
            ),
        ),
        (
            "ESS",
            (
                "ESS = ((( ∑ importance_weight ( (target_propensity)/(propensity) ) ))^(2))/(∑"
                " (importance_weight ( (target_propensity)/(propensity) ))^(2))"
            ),
        ),
    ],
)
def test_a_formula_says_what_the_file_says(name, text):
    assert read_formula(name) == text


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
    (formula,) = typeset_literature([line])
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
        typeset_literature([line])


def test_terms_that_a_formula_defines_have_a_line_each():
    lines = ["K = (a - e) / (1 - e), e = sum of b, over classes,", "b = w (hits), w = p = q"]
    assert [
        "".join(write_formula(parse_formula(text)).split()) for text in typeset_literature(lines)
    ] == ["K=(a−e)/(1−e)", "e=∑b,overclasses", "b=w(hits)", "w=p=q"]


def test_indented_lines_of_every_comment_are_formulas():
    formulas = [
        typeset_literature([line[4:] for line in lines])
        for file in FILES.values()
        if (lines := [line for line in file.doc.splitlines()[1:] if line.startswith("    ")])
    ]
    assert len(formulas) > 130
    for formula in (formula for several in formulas for formula in several):
        assert {node.tag for node in parse_formula(formula).iter()} <= {*ELEMENTS, "msub"}


def test_every_page_has_a_formula_that_is_well_formed_or_none():
    counted = 0
    for file in FILES.values():
        if not (found := typeset_formula(file)):
            continue
        counted += 1
        tags = {node.tag for node in parse_formula(found).iter()}
        assert tags <= ELEMENTS, file.full_name
    assert counted > 150


@pytest.mark.parametrize("name", ["FN", "num_q", "AdjustedRand", "ROC"])
def test_totals_of_a_column_long_expressions_and_curves_have_none(name):
    assert typeset_formula(FILES[name]) == ""


def test_all_kinds_of_expressions_are_translated():
    # What is left out is left out for its length, or since it is one column: no kind of node is
    # unknown.
    for file in load_registry().metrics.values():
        tree = file.tree.expressions[-1].unalias()
        nodes = sum(1 for _ in tree.walk())
        assert typeset_formula(file) or nodes > MOST or nodes <= 3, file.full_name


@pytest.mark.slow
def test_a_page_has_its_formula_and_what_it_is_over():
    text = build_metric_page(FILES["nDCG"])
    assert (
        '<div class="formula" tabindex="0"'
        f" data-search-exclude>{typeset_formula(FILES['nDCG'])}</div>" in text
    )
    assert (
        "the metric sums over the rows of the relation `discounted_gains`, with one row per list,"
        " judged document of positive relevance and rank that it may have" in text
    )
    assert (
        "the metric sums over the rows of the [input](../../inputs.md) `predictions`"
        in build_metric_page(FILES["Brier"])
    )
    assert (
        "formula"
        not in build_metric_page(FILES["FN"]).partition("## Undefined values and checks")[0]
    )
