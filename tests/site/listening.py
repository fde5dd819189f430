"""What goes wrong in the pages of a browser's context while they are opened one after another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit


def path_of(url: str) -> Path:
    """The file that an address names."""
    return Path(unquote(urlsplit(url).path))


class Listener:
    """Hears errors, requests that fail, and requests that lead outside.

    `current` is the page that the next faults are told with; `faults` is for after the last page.
    """

    def __init__(self, context, is_inside: Callable[[str], bool]):
        self.context, self.is_inside = context, is_inside
        self.current, self.found, self.cut_short = "", [], {}
        context.on("console", lambda said: said.type == "error" and self.tell(said.text))
        context.on("weberror", lambda wrong: self.tell(str(wrong.error)))
        context.on("response", lambda answer: answer.status >= 400 and self.tell(answer.url))
        context.on("request", self.asked)
        context.on("requestfailed", self.failed)

    def tell(self, *what) -> None:
        self.found.append((self.current, *what))

    def asked(self, request) -> None:
        if urlsplit(request.url).scheme not in {"data", "blob"} and not self.is_inside(request.url):
            self.tell("outside", request.url)

    def failed(self, request) -> None:
        if (
            request.failure == "net::ERR_ABORTED"
        ):  # its page was left: that says nothing of the file
            self.cut_short[request.url] = self.current
        else:
            self.tell(request.failure, request.url)

    def is_there(self, url: str) -> bool:
        if urlsplit(url).scheme == "file":
            return path_of(url).is_file()
        return self.context.request.get(url).ok

    def faults(self) -> list[tuple]:
        """All faults; what leaving a page cut short is asked for once more."""
        lost = [
            (page, "lost", url) for url, page in self.cut_short.items() if not self.is_there(url)
        ]
        return self.found + lost
