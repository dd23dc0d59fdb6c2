"""Compare values, and describe differences without raising."""

from collections.abc import Iterator, Mapping


def find_differences(
    got: Mapping[str, Mapping[str, float | None]],
    expected: Mapping[str, Mapping[str, float | None]],
    tolerance: float,
) -> Iterator[str]:
    """Yield each value that is farther from what is expected than a share of that, or of 1 if that
    is less, or is one's alone.
    """
    for key in got.keys() ^ expected.keys():
        yield f"{key!r} is in {'ours' if key in got else 'theirs'} alone"
    for key in got.keys() & expected.keys():
        for name, value in expected[key].items():
            have = got[key][name]
            if (have is None) != (value is None) or (
                have is not None
                and value is not None
                and not abs(have - value) <= tolerance * max(1.0, abs(value))
            ):
                yield f"{name} of {key!r}: ours {have!r}, theirs {value!r}"
