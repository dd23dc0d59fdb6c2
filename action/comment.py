"""Write the summary of a gate as a comment on a pull request, in place of the one before; nothing
but Python is needed.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

COMMENTS_PER_PAGE = 100
MAX_CHARACTERS = 65_000
"""Length of a comment, of which GitHub takes 65,536 characters."""

TIMEOUT = 30
"""Seconds to wait for an answer."""


def send_request(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    """Send a request to the API of GitHub and return its answer."""
    request = urllib.request.Request(  # noqa: S310  the address is that of the runner
        f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues/{path}",
        None if body is None else json.dumps(body).encode(),
        {
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
        },
        method=method,
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310  see above
        return json.loads(answer.read())


def find_comment(number: str, marker: str) -> int | None:
    """Return the id of the comment that begins with a marker, None if there is none."""
    page = 1
    while True:
        comments = send_request(
            "GET", f"{number}/comments?per_page={COMMENTS_PER_PAGE}&page={page}"
        )
        for comment in comments:
            if str(comment["body"]).startswith(marker):
                return int(comment["id"])
        if len(comments) < COMMENTS_PER_PAGE:
            return None
        page += 1


def main() -> None:
    """Replace the comment of this gate, or write the first one; a token that may not do so is a
    warning.
    """
    title = " ".join(os.environ["TITLE"].replace("--", "- -").split())
    marker = f"<!-- sqlrank gate: {title} -->"
    summary = Path(sys.argv[1]).read_text("utf-8").replace("## sqlrank gate", f"## {title}", 1)
    body = f"{marker}\n{summary}"
    if len(body) > MAX_CHARACTERS:
        body = (
            f"{body[:MAX_CHARACTERS]}\n\nThe table is longer than a comment; the summary of the job"
            " has all of it.\n"
        )
    number = os.environ["PULL_REQUEST"]
    try:
        comment = find_comment(number, marker)
        if comment is None:
            send_request("POST", f"{number}/comments", {"body": body})
        else:
            send_request("PATCH", f"comments/{comment}", {"body": body})
    except urllib.error.URLError as error:
        sys.stdout.write(
            f"::warning title=sqlrank gate::no comment was written: {error}; the job needs the"
            " permission pull-requests: write\n"
        )


if __name__ == "__main__":
    main()
