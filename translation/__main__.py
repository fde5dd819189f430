"""Bring the catalogues of translations up to date: `make translations`."""

from __future__ import annotations

from translation import catalogues, pages


def main() -> None:
    for docname in pages.docnames():
        messages = [(one.message, one.kind) for one in pages.messages(docname)]
        if catalogues.write(docname, messages):
            print(f"{catalogues.path_of(docname).relative_to(catalogues.ROOT)}: written")


if __name__ == "__main__":
    main()
