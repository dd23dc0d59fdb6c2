"""List metrics with family, parameters, source and description, find the canonical one of a name,
by synonyms of other tools and compatibility modes, and search them, policies, commands and pages by
stems of words; read the samples that are too small for intervals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import log
from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, enumerate_names, quote_excerpt
from sqlrank.registry.metric import COLUMN_PARAMETER, Metric, normalize_name, parse_metric_text
from sqlrank.registry.resolved_metric import find_input_role, named_roles
from sqlrank.registry.sql_folder import read_toml, sql_root

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.registry.sql_file import SqlFile

MAX_RESPELLED_CHARACTERS = 1000
"""Longest text that is matched against the spellings of other tools."""

_SEPARATORS = re.compile(r"[\s,;|]+(?![^(\[{]*[)\]}])")
"""Pattern of separators between several metrics in one text, outside of brackets."""


def canonical_metric(metric: Metric, library: Registry) -> Metric:
    """Translate a metric's name to the canonical one, and a limit of a parameter,
    ``FBeta(beta=inf)``, to the metric that it is.

    Raises:
        MetricError: The name is ambiguous between tools, or belongs to a compatibility mode.
    """
    canonical = _with_canonical_name(metric, library)
    for name, value in canonical.params:
        if limit := library.synonyms["limits"].get(
            f"{normalize_name(canonical.name)}({name}={value})"
        ):
            return replace(
                canonical,
                name=limit,
                params=tuple(pair for pair in canonical.params if pair[0] != name),
            )
    return canonical


def find_siblings(metric: Metric, library: Registry, input_roles: Collection[str]) -> list[str]:
    """Return the metrics of the same meaning that read the inputs of a call, if the metric itself
    reads none of them.
    """
    if not input_roles or _has_input(library.file_for(metric), input_roles, library):
        return []
    groups = library.synonyms["siblings"].values()
    return [
        name
        for name in next((names for names in groups if metric.name in names), ())
        if _has_input(library.metrics[name.lower()], input_roles, library)
    ]


def find_row_metrics(metric: Metric, library: Registry) -> list[str]:
    """Return the metrics of rows of predictions that have the meaning of one of rankings."""
    groups = [
        names
        for names in library.synonyms["siblings"].values()
        if metric.name in names and metric.cutoff is None
    ]
    return [
        name
        for names in groups
        for name in names
        if find_input_role(library, library.metrics[name.lower()]) == "predictions"
    ]


def _has_input(file: SqlFile, input_roles: Collection[str], library: Registry) -> bool:
    """Return True if the input that a metric evaluates is among those given, itself or as what it
    is assembled from.
    """
    role = find_input_role(library, file)
    return not {
        role,
        *library.roles[role].assembled_from,
        *(["predictions", "queries"] if role == "run" else []),
    }.isdisjoint(input_roles)


def _with_canonical_name(metric: Metric, library: Registry) -> Metric:
    metric_file = library.metrics.get(metric.name.lower())
    has_cutoff = metric.cutoff is not None or "k" in dict(metric.params)
    has_file = (
        metric_file is not None
        or metric.name.lower() in library.curves
        or f"{metric.name.lower()}@k" in library.metrics
    )
    if has_file and not (
        has_cutoff
        and metric_file is not None
        and metric_file.cutoff_parameter is None
        and f"{metric_file.name}@k" not in library.metrics
    ):
        return metric
    name_key = normalize_name(metric.name)
    for key in [f"{name_key}@"] * has_cutoff + [name_key] * (not has_file):
        if choices := library.synonyms["ambiguous"].get(key):
            raise MetricError(
                f"{metric.name} means different things in different tools. Say which: {choices}"
            )
        if name := library.synonyms["aliases"].get(key):
            canonical = parse_metric_text(name)
            params = tuple(sorted((dict(canonical.params) | dict(metric.params)).items()))
            return replace(canonical, params=params, cutoff=metric.cutoff)
    if not has_file and (
        canonical_name := next(
            (name for name in library.metric_names if normalize_name(name) == name_key), None
        )
    ):
        return replace(metric, name=canonical_name)
    if not has_file and (mode_match := _find_mode(metric.name, library)):
        mode, name = mode_match
        name = name if metric.cutoff is None else str(parse_metric_text(name) @ metric.cutoff)
        raise MetricError(
            f"unknown metric {metric.name!r}. {mode} calls {name} so: write {name}, or give"
            f" compat={mode!r}"
        )
    return metric


def list_aliases(name: str, library: Registry) -> list[str]:
    """Return the synonyms of a metric in other tools."""
    aliases = library.synonyms["aliases"].items()
    return [
        key.rstrip("@")
        for key, text in aliases
        if text.startswith(name) and parse_metric_text(text).name == name
    ]


def _find_mode(name: str, library: Registry) -> tuple[str, str] | None:
    """Find the first compatibility mode with a name or pattern (``ndcg_cut_*``), and the canonical
    name.
    """
    stem, _, suffix = name.rpartition("_")
    for mode, path in sorted(library.compat_files.items()):
        names = read_toml(path).get("names", {})
        if name in names or f"{stem}_*" in names:
            return mode, names[name] if name in names else names[f"{stem}_*"].replace("*", suffix)
    return None


def find_metric(text: str, library: Registry) -> tuple[Metric, SqlFile]:
    """Find the canonical metric and its file for a text.

    Raises:
        MetricError: The text is not a metric; the message suggests the canonical spelling of other
            tools' names.
    """
    try:
        metric = parse_metric_text(text)
    except MetricError as error:
        raise MetricError(
            _suggest_spelling(text, library) or _suggest_mapping(text, library) or str(error)
        ) from None
    metric = canonical_metric(metric, library)
    try:
        file = library.file_for(metric, *(named_roles([metric]) or ()))
    except MetricError as error:
        raise MetricError(_suggest_spelling(text, library) or str(error)) from None
    if COLUMN_PARAMETER in dict(metric.params) and not file.measures_column:
        problem = (
            f"cannot read the parameters of {quote_excerpt(text)}. Each needs a name, as in (rel=2)"
        )
        raise MetricError(_suggest_spelling(text, library) or problem)
    return metric, file


def _suggest_mapping(text: Any, library: Registry) -> str | None:
    """Suggest the mapping of a column for a metric of an expression, ``Mean(cost / clicks)``."""
    match = _MEASURED_EXPRESSION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    name, expression, rest = match.groups(default="")
    try:
        metric = canonical_metric(Metric(name, ((COLUMN_PARAMETER, "value"),)), library)
        is_measured = library.file_for(metric).measures_column
    except MetricError:
        return None
    return (
        f"{quote_excerpt(text)} measures an expression. Give it the name of a column,"
        f" columns={{'value': {expression!r}}}, and ask for {name}(value{rest})"
        if is_measured
        else None
    )


_MEASURED_EXPRESSION = re.compile(
    r"\s*([A-Za-z]\w*)\((.*?)(,\s*(?:q\s*=\s*)?[\d.]+)?\)\s*", re.DOTALL
)


def _suggest_spelling(text: Any, library: Registry) -> str | None:
    """Suggest the canonical spelling of other notations (``ndcgAt(10)``) or of several metrics."""
    if not isinstance(text, str) or len(text) > MAX_RESPELLED_CHARACTERS:
        return None
    for pattern, replacement in library.synonyms["spellings"].items():
        match = re.fullmatch(pattern, text.strip())
        if (
            match is not None
            and (name := _canonical_text(match.expand(replacement), library)) is not None
        ):
            return f"unknown metric {quote_excerpt(text)}. Write {name}"
    parts = _SEPARATORS.split(text.strip())
    # A curve has rows of its own, and stands for its value among other metrics.
    metrics = [
        str(library.synonyms["curves"].get(normalize_name(name), part))
        for part in parts
        if (name := _canonical_text(part, library)) is not None
    ]
    # A single metric is not a list
    if len(metrics) < len(parts) or len(metrics) < 2:  # noqa: PLR2004
        return None
    import shlex  # its import takes a millisecond

    return (
        f"{quote_excerpt(text)} holds several metrics. Give a list of them, {metrics!r} (on the"
        f" command line {' '.join(map(shlex.quote, metrics))})"
    )


def _canonical_text(text: str, library: Registry) -> str | None:
    try:
        metric = canonical_metric(parse_metric_text(text), library)
        return str(replace(metric, name=library.file_for(metric).display_name))
    except MetricError:
        return None


METRIC_INFO_COLUMNS = ("name", "family", "parameters", "relation", "source", "description")
"""Columns of the list of metrics."""


COMMON_FAMILIES = ("rankings", "predictions", "regression", "curve")
"""Families that the list of metrics begins with."""


def list_metrics(library: Registry, search: str | None) -> list[dict[str, str]]:
    """List all metrics by family and name, rankings and predictions first, or those that match a
    text; counts come last in their family.
    """
    files = library.metric_files
    rows = [
        _build_row(file)
        for file in files
        if search is None or _matches_search(search.lower(), file, library)
    ]
    return sorted(
        rows,
        key=lambda row: (
            COMMON_FAMILIES.index(row["family"])
            if row["family"] in COMMON_FAMILIES
            else len(COMMON_FAMILIES),
            row["family"],
            row["name"].startswith("num_"),
            row["name"].lower(),
        ),
    )


def _matches_search(search: str, file: SqlFile, library: Registry) -> bool:
    named = (file.full_name, file.annotations.get("Full name", ""))
    texts = (*named, file.description, *list_aliases(file.display_name, library))
    return any(search in text.lower() for text in texts)


def _find_family(file: SqlFile) -> str:
    return "curve" if file.kind == "curves" else file.path.parent.name


def _build_row(file: SqlFile) -> dict[str, str]:
    declared = [
        f"{param.name}={param.default_text}" if param.default is not None else param.name
        for param in file.params.values()
    ]
    values = (
        format_example_name(file),
        _find_family(file),
        ", ".join(
            [
                *declared,
                *(f"{choice.name}={choice.default}" for choice in file.declared_settings.values()),
            ]
        ),
        file.first_source,
        file.source,
        file.description,
    )
    return dict(zip(METRIC_INFO_COLUMNS, values, strict=True))


def format_example_name(file: SqlFile) -> str:
    """Return a text that evaluates the metric: its name, with a column for a metric of columns, and
    with a cut-off where it takes the file.

    ``AUC@k`` is ``AUC@10``, and ``Mean of predictions`` is ``Mean(predictions.column)``.
    """
    role = file.full_name.partition(" of ")[2]
    return (
        f"{file.display_name}({role}{'.' * bool(role)}column)"
        if file.measures_column
        else file.full_name.replace("@k", "@10")
    )


def better_direction(column: str, library: Registry) -> str:
    """Return the better direction of a result column: ``higher``, ``lower`` or ``neither``."""
    return _file_direction(_find_file(column, library))


def _file_direction(file: SqlFile | None) -> str:
    if file is None or file.kind != "metrics" or file.is_always_defined:
        return "neither"
    return file.annotations.get("Direction", "higher")


def metric_direction(metric: ResolvedMetric) -> str:
    """Return the better direction of a metric, which the caller may have given."""
    return "lower" if metric.is_lower_better else _file_direction(metric.file)


def is_count_metric(column: str, library: Registry) -> bool:
    """Return True if a result column holds counts, or sums of weights."""
    file = _find_file(column, library)
    return file is not None and file.kind == "metrics" and file.is_always_defined


def _find_file(column: str, library: Registry) -> SqlFile | None:
    try:
        return find_metric(column, library)[1]
    except MetricError:
        return None


STOP_WORDS = frozenset([
    "a", "am", "an", "and", "are", "as", "at", "be", "between", "by", "can", "could", "did", "do",
    "does", "for", "from", "good", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its",
    "k", "me", "my", "n", "need", "new", "of", "on", "or", "our", "over", "should", "so", "than",
    "that", "the", "their", "there", "these", "they", "this", "to", "too", "us", "want", "was",
    "we", "what", "when", "where", "which", "will", "with", "would", "you", "your",
])  # fmt: skip
EXACT_PHRASE, CONTAINED_PHRASE, NAMED_WORD, DESCRIBED_WORD = 100.0, 30.0, 3.0, 1.0
"""Scores of an entry: a phrase that is the query, one within it, and words of its phrases and of
its description.
"""

MIN_COVERED_SHARE = 0.5
"""Share of the words of a query that an entry must have."""

MIN_STEM = 3
"""Length up to which a word is searched in texts as a whole."""

_ENDING = re.compile(r"(?<=\w{4})(?:ings?|ed|ers?|ors?|ions?|ies|es|(?<![isu])s|e|y)$")
"""Endings that are cut off words, of which four letters remain."""


@dataclass(frozen=True)
class SearchEntry:
    """An entry of the search: its row of the list of metrics, the phrases that lead to it, and its
    complete text.
    """

    row: dict[str, str]
    phrases: tuple[str, ...] = field(default=())
    text: str = ""

    @cached_property
    def phrase_words(self) -> list[tuple[str, ...]]:
        """Return the words of each phrase."""
        return [
            words for phrase in (self.row["name"], *self.phrases) if (words := split_words(phrase))
        ]

    @cached_property
    def described_words(self) -> frozenset[str]:
        """Return the words of the description."""
        return frozenset(split_words(self.row["description"]))


def split_words(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text in lower case, without stop words and cut-offs.

    >>> split_words("Rankings at 10"), split_words("hashing, hashed")
    (('rank',), ('hash', 'hash'))
    """
    words = re.findall(r"[a-z]+\d*|\d+[a-z]+", text.lower().replace("a/b", "ab"))
    return tuple(_cut_ending(word) for word in words if word not in STOP_WORDS)


@cache
def _cut_ending(word: str) -> str:
    return _ENDING.sub(
        "",
        (
            word[:-1]
            if len(word) > MIN_STEM and word.endswith("s") and not word.endswith(("ss", "us", "is"))
            else word
        ),
    )


def search_metrics(library: Registry, query: str) -> list[dict[str, str]]:
    """Return the entries that fit a query, best first, and the metrics that contain its text; of a
    family, its metrics alone.
    """
    words = read_toml(sql_root() / "settings" / "search.toml")["families"]
    family = words.get(query.lower(), query.lower())
    if rows := [row for row in list_metrics(library, None) if row["family"] == family]:
        return rows
    containing = list_metrics(library, query)
    entries = search_entries(query, list_entries(library))
    names = {row["name"] for row in entries}
    return [*entries, *(row for row in containing if row["name"] not in names)]


def list_entries(library: Registry) -> list[SearchEntry]:
    """Return the entries of a search: metrics, policies, the topics of ``search.toml``, and pages
    of the documentation.
    """
    words = read_toml(sql_root() / "settings" / "search.toml")
    files = {format_example_name(file): file for file in library.metric_files}
    entries = [
        SearchEntry(
            row,
            (*list_aliases(name, library), *words["metrics"].get(name, ())),
            files[row["name"]].text,
        )
        for row in list_metrics(library, None)
        for name in [row["name"].split("@")[0].split("(")[0]]
    ]
    entries += [
        SearchEntry(
            _build_entry(
                f"--policy {name}",
                "policy",
                str(policy.get("description", "")),
                ", ".join(policy.get("values", ())),
            ),
            tuple(words["policies"].get(name, ())),
        )
        for name, policy in library.policies.items()
    ]
    folder = sql_root().parent
    pages = {
        str(path.relative_to(folder).with_suffix("")): path.read_text("utf-8")
        for path in sorted((folder / "docs").rglob("*.md"))
    }
    topics = {
        name: {"about": text.partition("\n")[0].strip("# "), "words": ()}
        for name, text in pages.items()
    } | words["topics"]
    entries += [
        SearchEntry(
            _build_entry(name, _find_kind(name), topic["about"]),
            tuple(topic["words"]),
            pages.get(name, ""),
        )
        for name, topic in topics.items()
    ]
    for theirs, sentence in words["other_tools"].items():
        name, _, difference = sentence.partition(": ")
        entries.append(
            SearchEntry(
                _build_entry(name, "other tools", f"'{theirs}' elsewhere. {difference}."), (theirs,)
            )
        )
    return entries


def is_search_phrase(query: str, library: Registry) -> bool:
    """Return True if a query is a phrase that is declared to lead to an entry."""
    words = split_words(query)
    return any(words in entry.phrase_words for entry in list_entries(library))


MAX_ENTRIES = 10
"""Maximum number of rows that a search returns."""


def search_entries(query: str, entries: Iterable[SearchEntry]) -> list[dict[str, str]]:
    """Return the rows of the entries that fit a query, best first; the complete texts are searched
    where nothing else fits.
    """
    entries = list(entries)
    query_words = split_words(query)
    weights = {
        word: log(1 + len(entries) / (1 + sum(_has_word(entry, word) for entry in entries)))
        for word in query_words
    }
    scored = [(_score_entry(entry, query_words, weights), entry.row) for entry in entries]
    if not any(score for score, _ in scored):
        scored = _score_texts(query_words, entries)
    best = sorted((each for each in scored if each[0] > 0), key=lambda each: -each[0])
    threshold = best[0][0] / 4 if best else 0
    return [row for score, row in best[:MAX_ENTRIES] if score >= threshold]


def _score_texts(
    query_words: tuple[str, ...], entries: Sequence[SearchEntry]
) -> list[tuple[float, dict[str, str]]]:
    """Score the complete texts by the number of paragraphs that have all words of a query."""
    patterns = [
        re.compile(rf"\b{word}" if len(word) > MIN_STEM else rf"\b{word}\b", re.IGNORECASE)
        for word in query_words
    ]
    texts = [
        entry.text.split("\n\n") if patterns and patterns[0].search(entry.text) else []
        for entry in entries
    ]
    counts = [
        sum(all(pattern.search(paragraph) for pattern in patterns) for paragraph in paragraphs)
        for paragraphs in texts
    ]
    return [(log(1 + count), entry.row) for entry, count in zip(entries, counts, strict=True)]


def _has_word(entry: SearchEntry, word: str) -> bool:
    return word in entry.described_words or any(word in words for words in entry.phrase_words)


def _score_entry(
    entry: SearchEntry, query_words: tuple[str, ...], weights: dict[str, float]
) -> float:
    joined = "".join(query_words)
    if not joined:
        return 0
    covered = sum(_has_word(entry, word) for word in query_words)
    score = 0.0
    for words in entry.phrase_words:
        if "".join(words) == joined:
            score = max(score, EXACT_PHRASE)
        elif any(
            query_words[start : start + len(words)] == words for start in range(len(query_words))
        ):
            score = max(score, CONTAINED_PHRASE * len(words) / len(query_words) * 2)
    if not score and covered < MIN_COVERED_SHARE * len(query_words):
        return 0
    for word in set(query_words):
        best = max(
            (NAMED_WORD / len(words) + 1 for words in entry.phrase_words if word in words),
            default=0.0,
        )
        score += weights[word] * max(best, DESCRIBED_WORD if word in entry.described_words else 0)
    return score


def _build_entry(name: str, family: str, description: str, parameters: str = "") -> dict[str, str]:
    return dict.fromkeys(METRIC_INFO_COLUMNS, "") | {
        "name": name,
        "family": family,
        "parameters": parameters,
        "description": description,
    }


def _find_kind(name: str) -> str:
    return (
        "page"
        if name.startswith("docs/")
        else (
            "command"
            if name.startswith("sqlrank ")
            else "policy"
            if name.startswith("--policy ")
            else "metric"
        )
    )


@dataclass(frozen=True)
class SmallSample:
    """Samples of at most a size, of which intervals of metrics contain the true value too rarely,
    or tests find differences too often.

    Attributes:
        data: Kind of the data, as docs/coverage.md names it.
        sample: The sample, as docs/coverage.md names it.
        metrics: The metrics without settings.
        most: The greatest size.
        size: What is counted, a key of ``sizes``.
        value: Least value of the metric, None for any.
        with_unit: True if rows are parts of units, False if rows are units, None for both.
        weighted: True if rows have weights, False if they have none, None for both.
        interval: Method of the intervals.
        covers: Percent of samples in which a 95 % interval contains the true value.
        differ: Percent of pairs of equal systems of which a test at 5 % finds a difference.
    """

    data: str
    sample: str
    metrics: tuple[str, ...]
    most: int
    size: str = "units"
    value: float | None = None
    with_unit: bool | None = None
    weighted: bool | None = None
    interval: str = "auto"
    covers: int = 0
    differ: int = 0

    def has_size(self, sizes: Iterable[float | None], value: float | None = None) -> bool:
        """Return True for a sample of which the least of these sizes is this one or smaller."""
        least = min((size for size in sizes if size is not None), default=None)
        is_value = self.value is None or (value is not None and value >= self.value)
        return is_value and least is not None and least <= self.most

    def describe(self, names: tuple[str, ...]) -> str:
        """Return the sentence on the intervals of metrics, or on their tests.

        >>> SmallSample("numbers", "10 rows", ("MSE",), 10, covers=82).describe(("MSE",))
        '10 units or fewer: 95 % intervals of MSE cover the true value in about 82 % of such samples'
        """  # noqa: E501
        size = f"{self.most} {_read_small_samples()['sizes'][self.size]}"
        least = "" if self.value is None else f" from {self.value:g} on"
        if self.differ:
            return (
                f"{size} or fewer: tests of {enumerate_names(names)} find a difference of equal"
                f" systems (p < 0.05) in up to {self.differ} %"
            )
        method = "" if self.interval == "auto" else f"{self.interval} "
        subject = f"95 % {method}intervals of {enumerate_names(names)}{least}"
        return (
            f"{size} or fewer: {subject} cover the true value in about {self.covers} % of such"
            " samples"
        )


@cache
def load_small_samples(table: str) -> tuple[SmallSample, ...]:
    """Return the rows of ``intervals`` or of ``comparisons``."""
    rows = _read_small_samples()[table]
    return tuple(SmallSample(**{**row, "metrics": tuple(row["metrics"])}) for row in rows)


@cache
def _read_small_samples() -> dict[str, Any]:
    return read_toml(sql_root() / "settings" / "small_samples.toml")
