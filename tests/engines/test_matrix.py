"""The table of executed calls on the page on engines."""

from tests.engines.matrix import HEADER, format_executed, make_record


def test_a_run_of_fewer_calls_keeps_the_row_of_its_engine():
    page = f"Before.\n\n{HEADER}| A 1.0 | 3 | 2 | 1e-15 |\n| B 7 | 9 | 9 | 2e-16 |\n\nAfter.\n"
    part = [make_record("A", "1.0", "one", ["AP"], 1e-12)]
    assert format_executed(page, part, ["A", "B"]) == page
    newer = [
        make_record("A", "1.1", "one", ["AP", "RR"], 3e-16),
        make_record("A", "1.1", "two", ["AP"], 0.0),
        make_record("C", "2", "one", ["AP"], 0.0),
    ]
    rows = ["| A 1.1 | 2 | 2 | 3e-16 |", "| B 7 | 9 | 9 | 2e-16 |", "| C 2 | 1 | 1 | 0e+00 |"]
    expected = "\n".join(["Before.", "", HEADER.strip(), *rows, "", "After.", ""])
    assert format_executed(page, newer, ["A", "B", "C"]) == expected
