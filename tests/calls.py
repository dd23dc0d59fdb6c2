"""The modules, functions and calls of the package that one evaluation of dicts passes through, the
first of a process and a repeated one: ``python -m tests.calls``.
"""

import sys
from collections import Counter
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from typing import Any, NamedTuple
from unittest.mock import patch

import sqlrank
from sqlrank.engines import open_database

DOCUMENTS = [f"d{index}" for index in range(20)]
DICTS = {
    "run": {"q": {doc: float(index) for index, doc in enumerate(DOCUMENTS)}},
    "qrels": {"q": {doc: index % 2 for index, doc in enumerate(DOCUMENTS)}},
}


class CallCounts(NamedTuple):
    """What a call of the package passes through."""

    modules: int
    functions: int
    calls: int


TARGETS = {"first": CallCounts(70, 400, 6_000), "repeated": CallCounts(35, 150, 400)}


def count_calls(function: Callable[[], Any]) -> CallCounts:
    """Return what a call enters of sqlrank, also in the thread that does the work: it runs in this
    one, which then waits for none.

    Bodies of modules and classes, which imports run, are no functions, and comprehensions and
    generator expressions are parts of theirs.
    """
    codes: Counter[Any] = Counter()
    modules = set()

    def see(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and "/sqlrank/" in code.co_filename:
            modules.add(code.co_filename)
            codes[code] += code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<")

    with patch.object(
        open_database, "run_cancellable", lambda _connection, work, _progress: work()
    ):
        sys.setprofile(see)
        try:
            function()
        finally:
            sys.setprofile(None)
    return CallCounts(len(modules), len(+codes), codes.total())


def evaluate_dicts() -> None:
    sqlrank.evaluate(["nDCG@10"], **DICTS)


if __name__ == "__main__":
    for name, target in TARGETS.items():
        counts = zip(CallCounts._fields, count_calls(evaluate_dicts), target, strict=True)
        for what, count, most in counts:
            sys.stdout.write(f"{what} of a {name} evaluation: {count:,} of {most:,}\n")
        evaluate_dicts()
