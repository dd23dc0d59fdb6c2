"""Measure benchmarks: options are parsed, sides run in turn, must agree, and are reported
together.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.table import Table

import sqlrank

Values = dict[str, float]
Sides = dict[str, Callable[[], Any]]
"""What is timed, by name: a mapping that it returns holds values that the others have, too."""

NO_TOLERANCES: Mapping[str, float] = MappingProxyType({})
UNLIMITED = "unlimited"
CORES = os.cpu_count() or 1

MOST_OTHER_LOAD, MOST_RUNS = 0.5, 3
"""Cores that other processes may keep busy beside a run: such a run is discarded and made again, so
often that there are at most so many, of which the quietest counts. With ``--repeat 1`` none is.
"""

SHORTEST = 0.1
"""Seconds over which the load is measured at least: the counters of Linux tick each 0.01 s."""

console = Console(width=110)


@dataclass
class Timing:
    """The seconds of each run of one side, those of all its threads on a processor, the peak memory
    of its process in bytes, the cores that others kept busy, and its result.
    """

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)
    other_loads: list[float] = field(default_factory=list)
    values: Values = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Target:
    """A ratio that was reached, and the most, or the least, that it should be; ``stretch`` is hoped
    for.
    """

    name: str
    ratio: float
    at_most: float | None = None
    at_least: float | None = None
    stretch: float | None = None

    def __str__(self) -> str:
        is_met = (
            self.ratio <= self.at_most
            if self.at_most is not None
            else self.ratio >= (self.at_least or 0)
        )
        bound = f"<= {self.at_most:g}" if self.at_most is not None else f">= {self.at_least:g}"
        stretch = (
            f" (stretch <= {self.stretch:g}: {'met' if self.ratio <= self.stretch else 'not met'})"
            if self.stretch
            else ""
        )
        return (
            f"{'met   ' if is_met else 'MISSED'} {self.ratio:7.2f} {bound:8} {self.name}{stretch}"
        )


def parse_options(
    description: str | None,
    sections: Iterable[str] = (),
    usual: Iterable[str] = (),
    **defaults: Any,
) -> argparse.Namespace:
    """Parse ``--repeat``, ``--only`` with sections, by default the usual ones or all, and an option
    for each default, which may be a pair with the sentence of the help. A tuple in such a pair has
    all values, with the default first; a list of texts has all of which some may be asked.
    """
    parser = argparse.ArgumentParser(description=description)
    for name, value in {"repeat": (3, "runs of each side"), **defaults}.items():
        default, help_text = value if isinstance(value, tuple) else (value, None)
        kind: dict[str, Any] = {"type": type(default)}
        if isinstance(default, list):
            kind = {"type": type(default[0]) if default else str, "nargs": "*"}
            kind["choices"] = default if default and kind["type"] is str else None
        elif isinstance(default, tuple):
            default, kind = default[0], {"choices": default}
        elif default is False:
            kind = {"action": "store_true"}
        parser.add_argument(f"--{name.replace('_', '-')}", default=default, help=help_text, **kind)
    if names := [*sections]:
        parser.add_argument(
            "--only",
            nargs="+",
            choices=names,
            default=[*usual] or names,
            metavar="NAME",
            help=f"of {', '.join(names)}",
        )
    return parser.parse_args()


def run_in_turn(sides: Sides, repeat: int, once: tuple[str, ...] = ()) -> dict[str, Timing]:
    """Run all sides in turn, ``repeat`` times; those in ``once`` in the first turn only."""
    timings = {name: Timing() for name in sides}
    for turn in range(repeat):
        for name, side in sides.items():
            if turn == 0 or name not in once:
                run, timing = _run_undisturbed(side, MOST_RUNS if repeat > 1 else 1), timings[name]
                timing.seconds += run.seconds
                timing.processor += run.processor
                timing.peaks += run.peaks
                timing.other_loads += run.other_loads
                timing.values = run.values
    return timings


def _run_undisturbed(side: Callable[[], Any], most_runs: int) -> Timing:
    """Run a side again while others keep the machine busy, and return the quietest run."""
    runs = [_run_side(side)]
    while len(runs) < most_runs and runs[-1].other_loads[0] > MOST_OTHER_LOAD:
        runs.append(_run_side(side))
    return min(runs, key=lambda run: run.other_loads[0])


def _run_side(side: Callable[[], Any]) -> Timing:
    """Run a side once; seconds, processor time and peak that it returns are those of its own
    process.
    """
    reset_peak()
    busy, start, before = _busy_seconds(), time.perf_counter(), sum(os.times()[:4])
    result = side()
    seconds, processor = time.perf_counter() - start, sum(os.times()[:4]) - before
    values = {**result} if isinstance(result, dict) else {}
    processor = values.pop("processor", processor)
    other_load = (_busy_seconds() - busy - processor) / max(seconds, SHORTEST)
    return Timing(
        [values.pop("seconds", seconds)],
        [processor],
        [values.pop("peak", peak_bytes())],
        [max(other_load, 0.0)],
        values,
    )


def _busy_seconds() -> float:
    """Return the seconds that all cores worked since the machine was started, or 0 where that is
    not known.
    """
    counters = Path("/proc/stat")
    if not counters.exists():
        return 0.0
    user, nice, system, _, _, interrupts, soft_interrupts = map(
        int, counters.read_text().split(maxsplit=8)[1:8]
    )
    ticks = user + nice + system + interrupts + soft_interrupts
    return float(ticks / os.sysconf("SC_CLK_TCK"))


def time_sides(
    title: str,
    sides: Sides,
    repeat: int,
    reference: str | None = None,
    *,
    once: tuple[str, ...] = (),
    tolerances: Mapping[str, float] = NO_TOLERANCES,
) -> dict[str, Timing]:
    """Run sides in turn, raise unless they agree, and print them beside the reference, by default
    the first.
    """
    timings = run_in_turn(sides, repeat, once)
    check_agreement(tolerances, timings)
    print_timings(title, timings, reference or next(iter(sides)))
    return timings


def divide_medians(timings: Mapping[str, Timing], name: str, reference: str) -> float:
    """Return the median seconds of a side as a multiple of those of another."""
    return timings[name].median / timings[reference].median


def check_agreement(tolerances: Mapping[str, float], *results: Mapping[str, Timing]) -> None:
    """Raise unless all sides that have a value have the same, to 1e-9 or the side's own
    tolerance.
    """
    first: Values = {}
    for name, timing in (item for result in results for item in result.items()):
        for metric, value in timing.values.items():
            if not abs(value - first.setdefault(metric, value)) <= tolerances.get(
                name, 1e-9
            ):  # so that NaN does not pass
                raise SystemExit(
                    f"{name} does not agree: {metric} is {value!r}, not {first[metric]!r}"
                )


def print_timings(
    title: str,
    timings: Mapping[str, Timing],
    reference: str,
    notes: Mapping[str, str] | None = None,
    heading: str = "",
) -> None:
    """Print the median of each side, its ratio to the reference, the spread, the peak memory, the
    load of others, and under ``heading`` the notes.
    """
    columns = [
        "",
        "median s",
        f"ratio to {reference}",
        "fastest to slowest s",
        "median CPU s",
        "peak GB",
        "other load",
        *([heading] if notes else []),
    ]
    table = Table(*columns, title=title, title_justify="left")
    for name, timing in timings.items():
        spread = (
            f"{_format_seconds(min(timing.seconds))} to {_format_seconds(max(timing.seconds))}"
            if len(timing.seconds) > 1
            else "one run"
        )
        table.add_row(
            name,
            _format_seconds(timing.median),
            f"{timing.median / timings[reference].median:.2f}",
            spread,
            _format_seconds(statistics.median(timing.processor)) if timing.processor else "",
            f"{max(timing.peaks) / 1e9:.2f}" if timing.peaks else "",
            _format_load(timing.other_loads),
            *([notes.get(name, "")] if notes else []),
        )
    console.print(table)


def _format_load(loads: list[float]) -> str:
    """Return the greatest load beside runs that count, marked if it is more than it may be."""
    return f"{max(loads):.1f}{' (busy)' if max(loads) > MOST_OTHER_LOAD else ''}" if loads else ""


def _format_seconds(value: float) -> str:
    """Return seconds with three digits or so: a scan takes hundredths."""
    return f"{value:.3f}" if value < 1 else f"{value:.2f}"


def time_memory_limit(
    title: str, command: list[str], limit: str, repeat: int, most_time: float | None = None
) -> Iterator[Target]:
    """Run a script without and with a memory limit of so many ``GB``, which it gets as its last
    argument, each time in a process of its own; print times and peaks, and yield the targets.

    The script is to end with :func:`run_child`.
    """

    def measure_side(memory_limit: str) -> Values:
        child_command = [sys.executable, *command, memory_limit]
        # Our own script
        output = subprocess.run(child_command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
        return dict(json.loads(output.stdout))

    timings = run_in_turn(
        {limit_option: partial(measure_side, limit_option) for limit_option in (UNLIMITED, limit)},
        repeat,
    )
    check_agreement({}, timings)
    print_timings(title, timings, UNLIMITED)
    if most_time:
        ratio = divide_medians(timings, limit, UNLIMITED)
        yield Target(f"{title}; time under {limit}", ratio, at_most=most_time)
    most = float(limit.removesuffix("GB")) * 1e9
    yield Target(f"{title}; peak memory of {limit}", max(timings[limit].peaks) / most, at_most=1.1)


def run_child(evaluate: Callable[..., Values], limit: str, spill: Path) -> None:
    """Evaluate in this process under a limit, and print the values with the seconds and the peak
    memory in bytes.
    """
    start = time.perf_counter()
    limits = {} if limit == UNLIMITED else {"memory_limit": limit}
    print_values(evaluate(threads=2, temp_directory=spill, **limits), start)


def print_values(values: Values, start: float) -> None:
    """Print the values with the seconds since ``start`` and the peak memory in bytes."""
    print(json.dumps({**values, "seconds": time.perf_counter() - start, "peak": peak_bytes()}))


def reset_peak(process: int | str = "self") -> None:
    """Let the peak memory of a process begin anew at what it holds now; only Linux can."""
    with suppress(OSError):
        Path(f"/proc/{process}/clear_refs").write_text("5")


def peak_bytes(process: int | str = "self") -> int:
    """Return the peak memory of a process; on Linux not ru_maxrss, which starts at that of the
    process that started this one.
    """
    status = Path(f"/proc/{process}/status")
    peak = (
        [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        if status.exists()
        else []
    )
    return 1024 * (int(peak[0]) if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def print_introduction(threads: int, tools: Iterable[str]) -> None:
    """Print the names of a measurement and its machine, and limit Polars to as many threads as the
    others.
    """
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    versions = ", ".join(f"{name} {version(name)}" for name in tools)
    machine = f"{platform.machine()} {platform.system()}, {os.cpu_count()} cores"
    console.print(f"{machine}, {threads} threads, load {os.getloadavg()[0]:.1f}")
    console.print(f"Python {platform.python_version()}, sqlrank {sqlrank.__version__}, {versions}")


def print_targets(targets: Iterable[Target]) -> None:
    """Print the targets together at the end; a generator of them measures until then."""
    reached = list(targets)
    console.print(f"targets (load now {os.getloadavg()[0]:.1f})")
    for target in reached:
        console.print(str(target), highlight=False, soft_wrap=True)
