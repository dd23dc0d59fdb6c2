"""Check the limits of a call, parse memory sizes, and compute DuckDB's memory limit from the memory
of this process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sqlrank.errors import InputError

_SIZE = re.compile(
    r"\s*(?P<number>\d+(\.\d+)?)\s*((?P<unit>[KMGT])(?P<binary>i?)B|bytes)\s*", re.IGNORECASE
)


@dataclass(frozen=True)
class ResourceLimits:
    """Resource limits of a call, which are checked when it is made; the directory for spilled data
    is then created.

    Attributes:
        memory_limit: Memory of this process, such as ``"2GB"``.
        threads: Number of threads.
        temp_directory: Directory for spilled data.
        timeout: Time-out in seconds.
    """

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: str | Path | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        """Check the limits, and create the directory for spilled data."""
        if self.timeout is not None and not (
            isinstance(self.timeout, (int, float)) and self.timeout > 0
        ):
            raise InputError(f"timeout={self.timeout!r} is not possible: give seconds above 0")
        if self.threads is not None and not isinstance(self.threads, int):
            raise InputError(f"threads={self.threads!r} is not possible: give an integer")
        if self.temp_directory is not None:
            try:
                Path(self.temp_directory).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(
                    f"temp_directory={str(self.temp_directory)!r} is not possible:"
                    f" {error.strerror}. Name a folder that can be written to"
                ) from None


def parse_memory_size(text: str) -> float | None:
    """Return the bytes of a memory size, None for other texts.

    >>> parse_memory_size("2GB"), parse_memory_size("1.5 KiB"), parse_memory_size("much")
    (2000000000.0, 1536.0, None)
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    return float(match["number"]) * (1024.0 if match["binary"] else 1000.0) ** " KMGT".index(
        (match["unit"] or " ").upper()
    )


def engine_memory_limit(limit: str | None) -> str | None:
    """Return the memory limit for DuckDB.

    It is the limit minus this process's memory, at least 85 % of the limit.
    """
    limit_bytes = None if limit is None else parse_memory_size(limit)
    status = Path("/proc/self/status")
    if limit_bytes is None or not status.exists():
        return limit
    resident_bytes = 1024 * next(
        int(line.split()[1])
        for line in status.read_text("ascii").splitlines()
        if line.startswith("VmRSS:")
    )
    return f"{int(max(0.85 * limit_bytes, limit_bytes - resident_bytes) / 1000)}KB"
