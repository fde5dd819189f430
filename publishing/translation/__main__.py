"""Bring the catalogues of translations up to date: `make translations`."""

from __future__ import annotations

from publishing.translation import catalogues, pages, words

OTHERS = {
    "site": words.of_site,
    "exercises": words.of_exercises,
    "grading": words.of_grading,
    "drawings": words.of_drawings,
    "docstrings": words.of_docstrings,
}


def names() -> list[str]:
    """The catalogues: those of the pages, and the others."""
    return [*pages.docnames(), *OTHERS]


def messages(name: str) -> list[tuple[str, str]]:
    """The messages of a catalogue, in their order, each with what it is."""
    if name in OTHERS:
        return list(OTHERS[name]())
    return [(piece.message, piece.kind) for piece in pages.messages(name)]


def all_messages() -> dict[str, list[tuple[str, str]]]:
    return {name: messages(name) for name in names()}


def store(by_catalogue: dict[str, list[tuple[str, str]]]) -> None:
    for name, messages in by_catalogue.items():
        if catalogues.write(name, messages):
            print(f"{catalogues.path_of(name).relative_to(catalogues.ROOT)}: written")
    for path, text in catalogues.shipped().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"{path.relative_to(catalogues.ROOT)}: written")


def main() -> None:
    store(all_messages())


if __name__ == "__main__":
    main()
