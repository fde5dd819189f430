"""Write the notebooks' generated cells, run them and store their outputs: `make notebooks`.

    python -m publishing.notebooks                # all of them: chapters, and pages that run
    python -m publishing.notebooks 03 masking     # these, by their numbers or names

A chapter's exercises and the Chinese notebooks follow from it.
"""

import sys

from publishing.notebooks import chapters, chinese, exercises

if __name__ == "__main__":
    paths = chapters.chosen(sys.argv[1:])
    chapters.store(paths)
    exercises.store(paths)
    chinese.store(paths)
