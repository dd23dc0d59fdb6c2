"""The public interface changes only if the changelog names the change, and
docs/public-interface.toml can be rewritten by a command.
"""

import pytest

from website.public_interface import (
    CHANGELOG,
    PAGE,
    describe_interface,
    find_unnamed_changes,
    format_interface,
    read_interface,
    released_version,
)

STABLE = "## [Unreleased]\n\n{line}\n\n## [1.0.0] - 2026-12-01\n\n- `P` and `--top`.\n"
BEFORE = {
    "function evaluate": {"by": "str = (), by keyword", "top": "int"},
    "command gate": {"--summary": "Path"},
    "metric nDCG": {"k": "integer"},
    "policies": {"ties": ["doc_desc", "worst", "best"]},
}


def test_the_changelog_names_every_change():
    """If this fails, name the change in code under Unreleased; before the first release, run
    ``python -m website.public_interface``.
    """
    assert (
        find_unnamed_changes(read_interface(), describe_interface(), CHANGELOG.read_text("utf-8"))
        == []
    ), "python -m website.public_interface renews docs/public-interface.toml"


def test_the_file_is_of_the_last_release_and_can_be_written():
    interface = describe_interface()
    version = PAGE.read_text("utf-8").splitlines()[0].split(" sqlrank ")[1].split(",")[0]
    assert version == (released_version(CHANGELOG.read_text("utf-8")) or version)
    assert interface.keys() >= {
        "function evaluate", "command gate", "exit statuses", "input run", "gate columns",
        "metric nDCG", "curve ROC", "policies",
    }  # fmt: skip
    assert interface["function evaluate"]["confidence"] == "float | None = None, by keyword"
    assert interface["command evaluate"]["--output, -o"] == "Path"
    assert len(interface) > 250
    text = format_interface(interface, "1.2.3")
    assert (
        text.splitlines()[0]
        == "# The public interface of sqlrank 1.2.3, which docs/stability.md promises to keep."
    )
    assert text.count("\n[") == len(interface)


@pytest.mark.parametrize(
    ("section", "entries", "change", "line"),
    [
        (
            "function evaluate",
            {"by": "str = (), by keyword"},
            "function evaluate, top: removed",
            "- `evaluate` has no `top`.",
        ),
        (
            "function evaluate",
            BEFORE["function evaluate"] | {"by": "str"},
            "function evaluate, by: changed",
            "- `by=` of `evaluate`.",
        ),
        (
            "command gate",
            {"--summary": "Path", "--dry": "bool"},
            "command gate, --dry: added",
            "- `gate --dry`.",
        ),
        ("metric nDCG", None, "metric nDCG: removed", "- No `nDCG@10` but `nDCG`."),
        ("metric AUC@k", {"k": "integer"}, "metric AUC@k: added", "- `AUC@k`, at the top."),
        (
            "policies",
            {"ties": ["doc_desc", "worst"]},
            "policies, ties, best: removed",
            "- `ties=best` is gone.",
        ),
        (
            "policies",
            {"ties": ["worst", "doc_desc", "best"]},
            "policies, ties, doc_desc: changed",
            "- `ties=worst` replaces `doc_desc`.",
        ),
    ],
)
def test_a_change_is_named_in_code(section, entries, change, line):
    after = {
        name: value for name, value in {**BEFORE, section: entries}.items() if value is not None
    }
    found = find_unnamed_changes(BEFORE, after, STABLE.format(line=line.replace("`", "")))
    assert change in found
    assert find_unnamed_changes(BEFORE, after, STABLE.format(line=line)) == []
    assert find_unnamed_changes(BEFORE, BEFORE, STABLE.format(line="")) == []


def test_additions_are_free_before_the_first_release():
    assert find_unnamed_changes(BEFORE, {**BEFORE, "metric RR": {}}, "## [Unreleased]\n") == []
    assert find_unnamed_changes({**BEFORE, "metric RR": {}}, BEFORE, "## [Unreleased]\n") == [
        "metric RR: removed"
    ]
