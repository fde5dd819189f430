"""Where the files of a trained model lie, and whether they are those that were published."""

import hashlib
from importlib.util import find_spec
from pathlib import Path


def package_folder(name: str) -> Path | None:
    """The folder of an installed package; None: it is not installed."""
    spec = find_spec(name)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def check_file(path: Path, wanted: str) -> bytes:
    """A file's content, which must have this SHA-256."""
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != wanted:
        raise RuntimeError(f"{path.name} must have the SHA-256 {wanted}, got {digest}")
    return content
