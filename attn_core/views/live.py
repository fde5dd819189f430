"""Whether a notebook is live: run by a person who sees what it shows, or by a program."""

import os
import sys

from IPython import get_ipython


def is_live() -> bool:
    """Whether the cell that runs now was sent by a front end with a person before it.

    With each cell a front end says whether it can be asked for input. JupyterLab and its kind can;
    nbclient, nbconvert and nbval, which run notebooks to store or to compare them, cannot. Colab
    asks in another way, and Voila runs a notebook for the person who opens its page.
    """
    if "google.colab" in sys.modules or os.environ.get("SERVER_SOFTWARE", "").startswith("voila"):
        return True
    kernel = getattr(get_ipython(), "kernel", None)
    get_parent = getattr(kernel, "get_parent", None)
    if get_parent is None:
        return False
    request = get_parent("shell") or {}
    return bool(request.get("content", {}).get("allow_stdin"))
