"""The few functions of attn_core that a graded answer may import, and nothing else of it.

attn_core is not in the sandbox: it is the answer. An exercise that builds on one of its functions
names it in `library` ("dropout.philox"); a folder is made that holds this function, what it calls,
and no more, under the name that the answer imports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path


def pieces(source: str, wanted: Iterable[str]) -> str:
    """The part of a module's text that defines the wanted names, with its imports.

    >>> print(pieces("import math\\n\\nA = 1\\nB = 2\\ndef f():\\n    return A\\n", ["f"]))
    import math
    A = 1
    def f():
        return A
    """
    body = ast.parse(source).body
    defines = {name: node for node in body for name in defined(node)}
    keep, todo = set(), list(wanted)
    while todo:
        name = todo.pop()
        if name in keep or name not in defines:
            continue
        keep.add(name)
        used = ast.walk(defines[name])
        todo += [node.id for node in used if isinstance(node, ast.Name)]
    missing = [name for name in wanted if name not in keep]
    if missing:
        raise ValueError(f"library must name functions of the module, got {missing[0]!r}")
    lines = [ast.get_source_segment(source, node) for node in body if imports(node)]
    for node in body:
        if keep & defined(node):
            first = min([node.lineno, *(one.lineno for one in decorators(node))])
            lines += source.split("\n")[first - 1 : node.end_lineno]
    return "\n".join(lines)


def defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {one.id for target in node.targets for one in ast.walk(target) if is_name(one)}
    return {node.target.id} if isinstance(node, ast.AnnAssign) and is_name(node.target) else set()


def is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


def decorators(node: ast.stmt) -> list[ast.expr]:
    return getattr(node, "decorator_list", [])


def imports(node: ast.stmt) -> bool:
    """Whether a line imports something that does not come from attn_core."""
    if isinstance(node, ast.ImportFrom):
        return not (node.module or "").startswith("attn_core")
    return isinstance(node, ast.Import)


def make(names: Iterable[str], folder: Path) -> Path | None:
    """Write attn_core with these functions ("dropout.philox") alone into a folder; None if none."""
    modules: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        module, _, function = name.rpartition(".")
        modules.setdefault(module, []).append(function)
    if not modules:
        return None
    package = folder / "attn_core"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    for module, functions in modules.items():
        origin = Path(find_spec(f"attn_core.{module}").origin)
        text = pieces(origin.read_text(encoding="utf-8"), functions)
        path = package / f"{module.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder
