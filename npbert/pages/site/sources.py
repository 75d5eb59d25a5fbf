"""The input of Sphinx: the chapters, a page for each file, the reference, and the contents."""

import importlib
import importlib.util
import pkgutil
import posixpath
import re
from pathlib import Path
from typing import Any

from npbert.io import read_text
from npbert.pages.html import PAGES
from npbert.pages.number.page import number_page
from npbert.pages.site.source_page import Known, fence, read_bugs, source_page

PACKAGE = PAGES.parent
SHOWN = ("core", "layers", "blocks", "models", "optim")
"""The packages with a page for each file, in reading order."""
REFERENCE = ("gradcheck", "data", "inference", "training", "plots", "sklearn", "learn", "compute", "io")
"""The other packages with a page of their public names."""
_TO_PYTHON = re.compile(r"\]\(([\w./]+)\.py\)")
_TO_NUMBER = re.compile(r"\[([^]]*)\]\(dialogue\.html(#[^)]*)\)")


def site_sources(root: Path, proofs: dict[str, str], number: dict[str, Any]) -> dict[str, bytes]:
    """Return every file for Sphinx by its path. root: the repository, perhaps without docs/ and tests/planted."""
    found = filter(Path.is_file, [*sorted((root / "docs").rglob("*")), root / "CONTRIBUTING.md"])
    beside = {path.relative_to(root).as_posix(): path for path in found}
    chapters = {name: read_text(path) for name, path in beside.items() if name.endswith(".md")}
    known = Known(chapters, proofs, read_bugs(root), {code["file"] for code in number["source"]["functions"].values()})
    shown = {f"npbert/{room}": files_of(room) for room in SHOWN}
    linked = {posixpath.normpath(f"docs/{path}.py") for text in chapters.values() for path in _TO_PYTHON.findall(text)}
    shown["Files that chapters name"] = sorted(linked.difference(*shown.values()))
    parts = {"The chapters": {name: _as_myst(text) for name, text in chapters.items()}}
    for title, paths in shown.items():
        parts[title] = {
            f"{path.removesuffix('.py')}.md": source_page(path, read_text(root / path), known) for path in paths
        }
    documented = [room for room in (*SHOWN, *REFERENCE) if room != "sklearn" or importlib.util.find_spec(room)]
    parts["Reference"] = {f"reference/{room}.md": _reference(room) for room in documented}
    texts = {path: text for pages in parts.values() for path, text in pages.items()}
    texts["index.md"] = _contents(parts, len(proofs))
    texts["_extra/number.html"] = number_page({**number, "is_in_site": True})
    files = {name: path.read_bytes() for name, path in beside.items() if not name.endswith(".py")}
    return files | {path: text.encode() for path, text in texts.items()}


def files_of(room: str) -> list[str]:
    """Return the files of a package, those of its public names first, in their order."""
    package = importlib.import_module(f"npbert.{room}")
    homes = [getattr(getattr(package, name), "__module__", "") for name in package.__all__]
    modules = [each.name for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.") if not each.ispkg]
    ordered = dict.fromkeys([home for home in homes if home in modules] + modules)
    return [f"{module.replace('.', '/')}.py" for module in ordered]


def _as_myst(text: str) -> str:
    """Return a chapter with links to pages of the site."""
    return _TO_NUMBER.sub(r'<a href="../number.html\2">\1</a>', _TO_PYTHON.sub(r"](\1.md)", text))


def _reference(room: str) -> str:
    module = f"npbert.{room}"
    return f"# {module}\n\n" + fence("{eval-rst}", f".. automodule:: {module}\n   :members:\n   :imported-members:")


def _contents(parts: dict[str, dict[str, str]], num_proofs: int) -> str:
    """Return the first page. parts: the pages of each part, by path."""
    blocks = [_WELCOME.format(num_proofs=num_proofs)]
    if not parts["The chapters"]:
        blocks.append(
            "The chapters and the planted bugs are in docs/ and tests/ of the repository, which are not here."
        )
    for name, pages in parts.items():
        blocks.append(fence("{toctree}", "\n".join([f":caption: {name}", ":maxdepth: 1", "", *pages])))
    return "\n\n".join(blocks)


_WELCOME = """# npbert, to read

BERT in NumPy, with every gradient derived by hand, next to its code: here, each forward is beside its backward.

When this site was built, every gradient of {num_proofs} blocks was proved. The page of a layer shows what its forward
kept on the tape, its last check, the bugs that the tests plant in it, and its exercise.

<a href="number.html">Follow one number back</a>: a whole BERT on one page, forward and backward, step by step."""
