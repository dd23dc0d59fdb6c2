"""Texts that users read keep the style of website/prose.toml: words of the field, headings that
name things, short sentences, address.
"""

import re

import pytest

from website import prose

PAGES = prose.find_pages()


@pytest.mark.parametrize("path", PAGES)
def test_pages_keep_the_style(path):
    assert prose.find_breaches(path, PAGES[path]) == []


@pytest.mark.parametrize("texts", [prose.help_texts, prose.report_texts])
def test_help_and_reports_keep_the_style(texts):
    assert callable(texts)
    found = texts()
    assert len(found) > 100
    assert prose.find_words(found) == []
    assert [text for text in found if "; " in text] == []


def test_messages_have_the_words_of_the_field():
    found = prose.message_texts()
    assert len(found) > 1000
    assert prose.find_words(found) == []
    assert [
        text for text in found if re.search(r"; (?!alternative: )[a-z]", text)
    ] == []  # that of plans is in headers of statements


@pytest.mark.parametrize(
    ("markdown", "breach"),
    [
        ("## What you need", "heading 'What you need': name the thing"),
        ("What is rare counts less.", "begins with What: 'What is rare counts less.'"),
        ("You wait; it works.", "semicolon: 'You wait; it works.'"),
        ("You see how sure it is.", "'how sure' in 'You see how sure it is.': confidence interval"),
        (
            "| a | b |\n|---|---|\n| you | holds the truth |",
            "'holds the truth' in 'you holds the truth': contains the true value, coverage",
        ),
        ("You " + "see " * 20 + "it.", "22.0 words a sentence, at most 16"),
        (
            "You run. " * 30 + "You " + "see " * 30 + "it.",
            "3% of sentences above 30 words, such as",
        ),
        ("It runs.", "0.0 times 'you' per 1,000 words, at least 8"),
    ],
)
def test_breaches_are_found(markdown, breach):
    assert any(found.startswith(breach) for found in prose.find_breaches("docs/page.md", markdown))


def test_code_questions_and_reference_pages_are_no_breaches():
    page = (
        "# Ties\n\nWhich system is better? Set `what; holds the truth` to see.\n\n```sh\nWhat;"
        " ever\n```\n\n    What; ever"
    )
    assert prose.find_breaches("docs/glossary.md", page) == []


def test_details_and_notes_are_prose():
    page = prose.parse_prose(
        "<details markdown>\n<summary>More</summary>\n\nOne. Two.\n\n</details>\n\n!!! note"
        ' "Title"\n\n    Three.\n\n        code'
    )
    assert page.sentences == ["More", "One.", "Two.", "Three."]


def test_breaches_of_named_pages_are_printed(capsys, monkeypatch):
    pages = {"README.md": "# What\n\nYou run.", "docs/start.md": "It works; you see."}
    monkeypatch.setattr(prose, "find_pages", lambda: pages)
    prose.main(["README.md"])
    assert capsys.readouterr().out == "README.md: heading 'What': name the thing\n"
    prose.main([])
    assert capsys.readouterr().out.count("\n") == 2
