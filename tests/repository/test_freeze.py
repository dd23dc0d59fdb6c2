"""Records of all that users can see: differences are printed by entry, and folders, numbers of
tables and addresses are left out.
"""

from pathlib import Path

import pyarrow as pa

from tests.freeze.__main__ import format_differences
from tests.freeze.describing import ROOT, describe


def write_record(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "calls.txt").write_text(f"=== first\nsame\n=== second\n{text}\n", "utf-8")
    return folder


def test_differences_are_printed_by_entry(tmp_path):
    before = write_record(tmp_path / "before", "RR: double\n0x1.0p-1")
    assert format_differences(before, before) == []
    assert format_differences(before, write_record(tmp_path / "after", "RR: double\n0x1.1p-1")) == [
        "calls.txt: 1 of 2 entries differ", "  second", "    @@ -1,3 +1,3 @@", "     RR: double", "    -0x1.0p-1", "    +0x1.1p-1", "     ",
    ]  # fmt: skip


def test_every_bit_counts_and_no_folder_does():
    table = pa.table({"RR": [0.1 + 0.2], "path": [f"{ROOT}/sql"]})
    assert describe(table).splitlines() == [
        "column RR: double",
        "column path: string",
        "0x1.3333333333334p-2 | '<root>/sql'",
    ]
    assert (
        describe("sqlrank_examples_0123abcd at 0x7f0123456789")
        == "sqlrank_examples_<number> at <address>"
    )
