"""Plant small faults in the code and see if tests notice: ``python -m tests.mutate``.

The chosen mutants are those of ``chosen.toml``, with ``--share 3/8`` one eighth of them.
``--generated 100`` draws others, from the SQL files; the tests of each are those that read its
file, as ``--record`` finds out by running all tests of numbers, which takes ten minutes. Without
a record that comes first.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.mutate import readers
from tests.mutate.generate import draw_mutants
from tests.mutate.mutant import Mutant, MutantError, read_chosen, read_equivalents
from tests.mutate.readers import RECORD, choose_tests, share_files
from tests.mutate.runner import SURVIVED, run_mutants


def main(arguments: Sequence[str] | None = None) -> int:
    """Run mutants, print those that survive, and return 1 if there are any without a reason."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("--share", default="1/1", help="one share of the chosen mutants: 3/8")
    parser.add_argument("--generated", type=int, default=0, help="number of generated mutants")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generated mutants")
    parser.add_argument(
        "--seconds", type=float, default=10, help="time of the tests of a generated mutant"
    )
    parser.add_argument("--only", default="", help="mutants whose name contains this text")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument(
        "--record",
        nargs="*",
        metavar="TEST",
        help="record which test reads which file, of all tests of numbers or of these",
    )
    options = parser.parse_args(arguments)
    if options.record is not None:
        return _record(options.record)
    mutants = (
        _draw(options.generated, options.seed, options.seconds)
        if options.generated
        else read_chosen()
    )
    share, shares = map(int, options.share.split("/"))
    mutants = [
        mutant for mutant in mutants[share % shares :: shares] if options.only in mutant.name
    ]
    return _report(mutants, options.jobs)


def _record(tests: Sequence[str]) -> int:
    """Record which test reads which file, of all tests of numbers if none is named."""
    chosen = ["-q", "-m", "not slow", *(tests or readers.RECORDED_TESTS)]
    # As an object: pytest cannot rewrite a module by name that is imported already.
    return int(pytest.main(chosen, plugins=[readers]))


def _draw(count: int, seed: int, seconds: float) -> list[Mutant]:
    """Draw mutants with the tests that read their files; print those that no test reads."""
    if not RECORD.exists() and _record([]):
        raise MutantError("the tests that are recorded fail")
    files_by_test = share_files(json.loads(RECORD.read_text("utf-8")))
    mutants = []
    for mutant in draw_mutants(count, seed):
        if tests := choose_tests(files_by_test, mutant.file, seconds):
            mutants.append(replace(mutant, tests=tuple(tests)))
        else:
            sys.stdout.write(f"unread   {mutant.name}\n")
    return mutants


def _report(mutants: Sequence[Mutant], jobs: int) -> int:
    equivalents = read_equivalents()
    start = time.monotonic()
    counts = dict.fromkeys(("killed", "survived", "equivalent"), 0)
    unnoticed = []
    for mutant, outcome in run_mutants(
        [mutant for mutant in mutants if mutant.name not in equivalents], jobs
    ):
        counts[outcome] += 1
        if outcome == SURVIVED:
            unnoticed.append(mutant)
        sys.stdout.write(f"{outcome:8} {mutant.name}\n")
        sys.stdout.flush()
    counts["equivalent"] = sum(mutant.name in equivalents for mutant in mutants)
    sys.stdout.write(
        f"{', '.join(f'{count} {outcome}' for outcome, count in counts.items())} of {len(mutants)}"
        f" in {time.monotonic() - start:.0f} s\n"
    )
    for mutant in unnoticed:
        sys.stdout.write(f"no test notices {mutant.name}\n    ran: {' '.join(mutant.tests)}\n")
    return int(bool(unnoticed))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MutantError as error:
        sys.exit(str(error))
