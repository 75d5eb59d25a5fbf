"""The input of Sphinx, as Markdown: the chapters, a page for each file, the reference, and the contents. The page of a
file has each forward next to its backward, with tape, check, bugs and exercise."""

import importlib
import importlib.util
import inspect
import pkgutil
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from npbert.catalogue import CATALOGUE
from npbert.core import Tape
from npbert.io import read_text
from npbert.learn.exercises import EXERCISES
from npbert.pages.html import PAGES, escape
from npbert.pages.number.page import number_page

PACKAGE = PAGES.parent
SHOWN = ("core", "layers", "blocks", "models", "optim")
"""The packages with a page for each file, in reading order."""
REFERENCE = ("gradcheck", "data", "inference", "training", "plots", "sklearn", "learn", "compute", "io")
"""The other packages with a page of their public names."""
_TO_PYTHON = re.compile(r"\]\(([\w./]+)\.py\)")
_TO_NUMBER = re.compile(r"\[([^]]*)\]\(dialogue\.html(#[^)]*)\)")
_UNDOES = {"backward": "forward", "value_and_slope": "value"}
"""The name of what a method undoes, where it is not f of f_backward."""


def site_sources(root: Path, proofs: dict[str, str], number: dict[str, Any]) -> dict[str, str]:
    """Return every text for Sphinx by its path. root: the repository, perhaps without docs/ and tests/planted."""
    found = filter(Path.is_file, [*sorted((root / "docs").rglob("*.md")), root / "CONTRIBUTING.md"])
    chapters = {path.relative_to(root).as_posix(): read_text(path) for path in found}
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
    contents = [_WELCOME.format(num_proofs=len(proofs))]
    if not chapters:
        contents.append(
            "The chapters and the planted bugs are in docs/ and tests/ of the repository, which are not here."
        )
    for name, pages in parts.items():
        contents.append(fence("{toctree}", "\n".join([f":caption: {name}", ":maxdepth: 1", "", *pages])))
    texts["index.md"] = "\n\n".join(contents)
    texts["_extra/number.html"] = number_page({**number, "is_in_site": True})
    return texts


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


class Known(NamedTuple):
    """The data for the pages of source files.

    chapters: each text by its path. proofs: from `prove`. bugs: from `read_bugs`. followed: the files with lines on the
    page `number.html`.
    """

    chapters: dict[str, str]
    proofs: dict[str, str]
    bugs: list[str]
    followed: set[str]


def read_bugs(root: Path) -> list[str]:
    """Return the planted bugs of root/tests/planted, a paragraph each; CONTRIBUTING.md describes their form."""
    paths = sorted((root / "tests" / "planted").glob("*.txt"))
    return [paragraph for path in paths for paragraph in read_text(path).strip().split("\n\n")[1:]]


def source_page(path: str, text: str, known: Known) -> str:
    """Return the page of a file, with what is known of npbert's. path: in the repository: npbert/layers/linear.py."""
    parts, up = [f"---\nhide-toc: true\n---\n# {path.rpartition('/')[2]}", f"`{path}`"], "../" * path.count("/")
    for chapter, words in known.chapters.items():
        if f"](../{path})" in words:
            parts.append(f"- [{words.partition(chr(10))[0].removeprefix('# ')}]({up}{chapter})")
    if path in known.followed:
        parts.append(
            f'- <a href="{up}number.html#file={path}">Follow one number back</a> through the steps of this file'
        )
    module = path.removesuffix(".py").replace("/", ".")
    for thing in vars(importlib.import_module(module)).values() if path.startswith("npbert/") else ():
        if (isinstance(thing, type) or inspect.isfunction(thing)) and thing.__module__ == module:
            described = list(_described(thing, known))
            about = [f"## {thing.__name__}", fence("python", f'"""{inspect.getdoc(thing)}"""')]
            parts += [*about, *described] if described else []
    code = fence("{code-block} python", f":class: file\n\n{text}")
    return "\n\n".join([*parts, "## The whole file", code])


def fence(kind: str, text: str) -> str:
    """Return a code block, or a directive, that may contain other blocks of Markdown."""
    return f"~~~~~~{kind}\n{text.rstrip()}\n~~~~~~"


def _described(thing: Any, known: Known) -> Iterator[str]:
    """Return the sections of a class or function: its backward, the tape, the check, planted bugs, and exercise."""
    pairs = list(_pairs(thing))
    for pair in pairs:
        columns = [fence("python", inspect.cleandoc(f"\n{inspect.getsource(method)}")) for method in pair]
        yield "\n".join(["~~~~~~~~{container} pair", *columns, "~~~~~~~~"])
    settings = {block: each for block, each in CATALOGUE.items() if thing in each.layer_class.__mro__} if pairs else {}
    for block, setting in list(settings.items())[:1]:
        yield f"### On the tape\n\nForward of `{block}` has kept this, and backward takes it back from the top:"
        layer, inputs, rng = setting.make()
        tape = Tape(rng)
        layer(*inputs, tape=tape)
        yield fence("text", str(tape))
    if settings:
        yield "### The last check\n\nBy `npbert gradcheck`, when this site was built:"
        yield fence("text", "\n".join(f"{block}: {known.proofs[block]}" for block in settings))
    place = re.escape(f"{thing.__module__}.{thing.__qualname__}".removeprefix("npbert."))
    bugs = [paragraph for paragraph in known.bugs if re.search(rf"(?m)^in {place}(\.|$)", paragraph)]
    if bugs:
        yield "### Planted bugs\n\nThe tests plant each of them, and the checks must reject it."
    for paragraph in bugs:
        says, _, edit = paragraph.partition("\nin ")
        name, _, words = says.partition(": ")
        yield f"<details><summary><b>{escape(name)}</b>: {escape(words)}</summary>"
        yield fence("diff", f"in {edit}")
        yield "</details>"
    for exercise in EXERCISES.values():
        if thing.__name__ in [blank.name for blank in exercise.blanks]:
            yield f"### Exercise {exercise.code}: write it yourself"
            yield f"`npbert learn` writes the file, `npbert learn check {exercise.code}` explains each mistake."


def _pairs(thing: Any) -> Iterator[tuple[Any, Any]]:
    """Return the pairs of methods of a class: forward and backward, or f and f_backward."""
    own = vars(thing) if isinstance(thing, type) else {}
    for name in own:
        undone = _UNDOES.get(name, name.removesuffix("_backward"))
        if undone in own and undone != name:
            yield getattr(thing, undone), getattr(thing, name)


_WELCOME = """# npbert, to read

BERT in NumPy, with every gradient derived by hand, next to its code: here, each forward is beside its backward.

When this site was built, every gradient of {num_proofs} blocks was proved. The page of a layer shows what its forward
kept on the tape, its last check, the bugs that the tests plant in it, and its exercise.

<a href="number.html">Follow one number back</a>: a whole BERT on one page, forward and backward, step by step."""
