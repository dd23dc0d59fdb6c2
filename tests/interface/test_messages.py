"""The messages of calls and commands are those of the catalogues in ``messages``:
``pytest tests/interface/test_messages.py --rewrite-golden`` writes them anew.
"""

from pathlib import Path

import pytest

from tests.interface.catalogue import rewrite_catalogue
from tests.interface.command_line import ROOT

CATALOGUES = sorted((Path(__file__).parent / "messages").glob("*.txt"))


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_messages(path, tmp_path, monkeypatch, run, qrels, request):
    for folder in (ROOT / "examples" / "data").iterdir():
        (tmp_path / folder.name).symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    text = path.read_text("utf-8")
    found = rewrite_catalogue(text, {"run": run, "qrels": qrels, "tmp_path": Path()})
    if request.config.getoption("rewrite_golden"):
        path.write_text(found, "utf-8")
    assert found == path.read_text("utf-8")
