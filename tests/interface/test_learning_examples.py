"""The examples of learning run, on few trials and few ratings, with the output that their
documentation shows.
"""

import importlib.util
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "learning"


def load_example(name: str) -> Any:
    specification = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_simulated(capsys):
    load_example("simulated").main(["--trials", "3", "--max-iter", "20"])
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.startswith(("slides", "as published", "run to the end"))]
    assert [line[:16].strip() for line in rows] == 4 * ["slides", "as published", "run to the end"]
    for line in rows:
        values = re.fullmatch(
            r".{16} *(\S+) \+- \S+ +(\S+) \+- \S+ +(\d+) +(\d+) +(\d+) +(\S+) \+- \S+ +(\S+) \+-"
            r" \S+( +\d+)?",
            line,
        )
        assert values is not None, line
        assert sum(map(int, values.groups()[2:5])) == 300
        assert all(
            0 <= float(value) <= 1 for value in (*values.groups()[:2], *values.groups()[5:7])
        )
    assert rows[0].split()[1:] == [
        "0.20", "+-", "0.14", "0.27", "+-", "0.13", "207", "88", "5", "0.59", "+-", "0.34",
        "0.68", "+-", "0.34",
    ]  # fmt: skip
    header = lines[-5].split()
    least = {
        line.split()[0]: dict(zip(header[1:], map(float, line.split()[1:]), strict=True))
        for line in lines[-4:]
    }
    assert list(least) == ["strong", "moderate", "beta", "weak"]
    zero = {
        (condition, kind)
        for condition, row in least.items()
        for kind in ("max", "ts", "avg", "ramp")
        if row[kind] < 0.02
    }
    assert zero >= {
        ("strong", "max"),
        ("strong", "ts"),
        ("strong", "avg"),
        ("moderate", "ts"),
        ("beta", "avg"),
        ("weak", "ramp"),
    }
    assert not zero & {
        ("beta", "max"),
        ("beta", "ts"),
        ("weak", "max"),
        ("weak", "ts"),
        ("weak", "avg"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--zeros"]])
def test_movielens_on_ratings_of_the_same_form(tmp_path, capsys, options):
    rng = np.random.default_rng(0)
    taste, kind = rng.random((12, 2)), rng.random((70, 2))
    rated = [(user, item) for user in range(12) for item in rng.permutation(70)[:60]]
    rows = [
        f"{user}\t{item}\t{3 + 2 * (taste[user] @ kind[item] > 0.5)}\t{order}"
        for order, (user, item) in enumerate(rated)
    ]
    text = "\n".join(["user_id:token\titem_id:token\trating:float\ttimestamp:float", *rows])
    module = load_example("movielens")
    with zipfile.ZipFile(tmp_path / "recbole.whl", "w") as wheel:
        wheel.writestr(module.INSIDE, text)
    module.main(
        [
            str(tmp_path / "recbole.whl"),
            "-k",
            "1",
            "2",
            "--max-iter",
            "3",
            "--factors",
            "2",
            "--rounds",
            "20",
            *options,
        ]
    )
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"training: \d+ ratings of 12 users, \d+\.\d% positive", lines[0])
    assert lines[2].split() == ["micro-pAp@k", "k=1", "gain", "k=2", "gain"]
    assert [line[:20].strip() for line in lines[3:-1]] == [
        "random scorers",
        *module.METHODS,
        *module.BASES,
    ]
    for line in lines[4:-1]:
        first, gain, second, other = line[20:].replace("%", "").replace("*", " ").split()
        assert all(0 <= float(value) <= 1 for value in (first, second))
        baseline = float(lines[3][20:].split()[0])
        assert float(gain) == pytest.approx(100 * (float(first) / baseline - 1), abs=0.2)
        assert other[0] in "+-"
