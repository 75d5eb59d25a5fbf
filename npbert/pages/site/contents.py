"""The site's contents: the first page; what the search finds; the reference, each public name with its signature."""

import ast
import json
import re
from collections.abc import Iterator
from html import unescape
from itertools import groupby
from typing import Any

from npbert.pages.site.chapters import public_names_in
from npbert.pages.site.definitions import Definition
from npbert.pages.site.docstring import Texts
from npbert.pages.site.errors import ERRORS_PAGE, Explained
from npbert.pages.site.examples import CodeExample, example_of, examples_in
from npbert.pages.site.library import Library, relative
from npbert.pages.site.number import NUMBER_PAGE
from npbert.pages.site.panels import ProofPanel, in_words
from npbert.pages.site.rendering import Page, highlighted, render
from npbert.pages.site.sources import Function, Source, first_sentence

_PATH = "index.html"
_PICTURE = "docs/pictures/encoder_layer.svg"
_ABOUT = "BERT in NumPy, with every derivative written by hand: its chapters, its source, and its reference."
_SPECIAL = ("__call__", "__len__", "__getitem__", "__iter__")


def contents_page(library: Library, proofs: list[ProofPanel], num_bugs: int) -> Page:
    """index.html: all that there is, in the order to read it in."""
    own = [source for source in library.sources if source.path.startswith("npbert/")]
    in_rooms = groupby((source for source in own if source.room), key=lambda source: source.room.split("/")[0])
    outside = [source for source in library.sources if source not in own or not source.room]
    body = render(
        "contents",
        _PATH,
        checked=in_words(proofs) if proofs else "",
        num_bugs=num_bugs,
        number=NUMBER_PAGE,
        errors=ERRORS_PAGE,
        picture=_PICTURE if (library.root / _PICTURE).is_file() else "",
        first=library.chapters[0] if library.chapters else None,
        chapters=_chapters(library),
        rooms=[_room(library, room, list(sources)) for room, sources in in_rooms],
        outside=[_file(library, source, "npbert") for source in outside],
        reference=[(room.module, reference_path(room), public_names(room)) for room in rooms_with_names(library)],
    )
    return Page(_PATH, "npbert, to read", "contents", body, _ABOUT)


def _chapters(library: Library) -> list[tuple[str, str, str, str]]:
    """(number or +, page, title, what docs/README.md says of it) of each chapter."""
    return [
        (str(chapter.number or "+"), chapter.page, re.sub(r"^\d+\. ", "", chapter.title), chapter.about)
        for chapter in library.chapters[1:]
    ]


def _room(library: Library, room: str, sources: list[Source]) -> tuple[str, str, str, list[tuple[str, str, str]]]:
    """Its name, its page, its summary as HTML, and its files."""
    first, *files = sources
    summary = Texts(library, first, _PATH).inline(first.summary, 1)
    return room, first.page, summary, [_file(library, source, room) for source in files]


def _file(library: Library, source: Source, room: str) -> tuple[str, str, str]:
    """The name of a file within a room, its page, and its summary as HTML."""
    name = source.path.removeprefix("npbert/").removeprefix(f"{room}/").removesuffix(".py")
    name = f"{name.removesuffix('/__init__')}/" if name.endswith("/__init__") else name
    return name, source.page, Texts(library, source, _PATH).inline(source.summary, 1)


def search_index(library: Library, pages: list[Page], errors: list[Explained]) -> str:
    """search.js: [name, kind, page and place, first sentence] of each chapter, heading, room, file, class and function;
    all but the last two have the other words of their text, too, each once.

    They stand in the order to read them in: first the chapters, then the rooms and what is in them; the exercises, the
    tests and BERT in one file come late, and last each text of an error, with what explains it.
    """
    sources = sorted(library.sources, key=lambda each: (each.stem != "__init__", each.room.count("/")))
    late = [each for each in sources if each.room == "learn/exercises" or not each.path.startswith("npbert/")]
    early = [*_headings(pages), *(entry for each in sources if each not in late for entry in _names(library, each))]
    entries = [*early, *(entry for each in late for entry in _names(library, each))]
    said = [(text, f"error of {each.definition.name}", each) for each in errors for text, _ in each.texts]
    said.sort(key=lambda entry: -len(entry[0]))  # of those that fit what was printed, the one with the most words first
    entries += [(text, kind, each.address, each.paragraph) for text, kind, each in said]
    listed = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    return f"const ENTRIES = {listed};\nconst FIRST_LATE = {len(early)};\n"


_HEADING = re.compile(r'<h([1-4]) id="([^"]*)">(.*?)</h\1>\s*(<p>.*?</p>)?(.*?)(?=<h[1-4] id=|\Z)', re.DOTALL)


def _headings(pages: list[Page]) -> Iterator[tuple[str, ...]]:
    for page in pages:
        if page.kind == "chapter":
            for level, anchor, *parts in _HEADING.findall(page.body):
                name, first, rest = (unescape(re.sub("<[^>]*>", "", html)) for html in parts)
                is_top = level == "1"
                kind, place = ("chapter", page.path) if is_top else (page.title, f"{page.path}#{anchor}")
                yield name, kind, place, page.about if is_top else first_sentence(first), _words(f"{first} {rest}")


def _names(library: Library, source: Source) -> Iterator[tuple[str, ...]]:
    """A file or a room, and the classes and functions that it defines."""
    is_room = source.stem == "__init__"
    name = source.path.removeprefix("npbert/").removesuffix("__init__.py") or "npbert"
    text = ast.get_docstring(source.tree) or ""
    yield name, "room" if is_room else "file", source.page, first_sentence(text), _words(text)
    for definition in library.definitions.all():
        node, name = definition.node, definition.name
        if definition.source is not source or re.search(r"(^|\.)_", name):
            continue
        if isinstance(node, ast.ClassDef | Function):
            yield name, source.path, definition.address, first_sentence(ast.get_docstring(node) or "")


def _words(text: str) -> str:
    return " ".join(dict.fromkeys(re.findall(r"[^\W\d_]{3,}", text.lower())))


def public_names(source: Source) -> list[str]:
    """The names that `__all__` of a file lists, in its order."""
    listed: list[str] = []
    for node in source.tree.body:
        if isinstance(node, ast.Assign | ast.AugAssign) and ast.unparse(node).startswith("__all__ "):
            listed += ast.literal_eval(node.value)
    return listed


def rooms_with_names(library: Library) -> list[Source]:
    """The files whose public names have a page of the reference, npbert itself first."""
    rooms = [source for source in library.sources if source.stem == "__init__" and public_names(source)]
    return sorted(rooms, key=lambda source: source.module != "npbert")


def reference_path(source: Source) -> str:
    """The path of the page of a room."""
    return f"api/{source.module}.html"


def reference_pages(library: Library, errors: list[Explained]) -> list[Page]:
    """A page for each room. A name that is public in several is described in the first, and linked from the others."""
    described: dict[int, str] = {}
    examples = examples_in(library)
    return [_reference_page(library, room, described, examples, errors) for room in rooms_with_names(library)]


def _reference_page(
    library: Library, room: Source, described: dict[int, str], examples: list[CodeExample], errors: list[Explained]
) -> Page:
    """The page of a room. described: the address of each description by the id of its node; those here are added."""
    path = reference_path(room)
    entries = []
    for name in public_names(room):
        definition, here = library.definitions.find(room.module, name), f"{path}#{name}"
        address = described.setdefault(id(definition.node), here) if definition else here
        entry = _entry(library, path, definition) if definition and address == here else {}
        if entry and definition:
            near = (each for each in errors if each.definition.source is definition.source and definition.name)
            said = (each.address for each in near if f"{each.definition.name}.".startswith(f"{definition.name}."))
            entry["errors"] = next(said, "")
            entry["example"] = example = example_of(name, examples)
            if example:
                names = public_names_in(example.code, library)
                entry["code"] = "\n".join(highlighted(example.code, lambda place: relative(path, place), names))
        entries.append({"name": name, "elsewhere": address if address != here else "", **entry})
    text = Texts(library, room, path).docstring(room.tree)
    body = render("reference", path, module=room.module, text=text, entries=entries)
    return Page(path, f"{room.module}: what is public", "api", body, first_sentence(room.summary))


def _entry(library: Library, path: str, definition: Definition) -> dict[str, Any]:
    """The description of a class, a function, a module or a value."""
    texts = Texts(library, definition.source, path)
    members = []
    for node in _methods(definition.node):
        member = Definition(definition.source, f"{definition.name}.{node.name}", node)
        members.append((member.name, _signature_html(member, path), texts.docstring(node, definition)))
    return {
        "source": definition.source.path,
        "address": definition.address,
        "signature": _signature_html(definition, path),
        "text": texts.docstring(definition.node, definition) or _text_below(texts, definition),
        "members": members,
    }


def _text_below(texts: Texts, definition: Definition) -> str:
    """The text that stands below a value."""
    body = definition.source.tree.body
    after = body[body.index(definition.node) + 1 :] if definition.node in body else []
    if after and isinstance(after[0], ast.Expr) and isinstance(after[0].value, ast.Constant):
        return texts.html(str(after[0].value.value), after[0].lineno)
    return ""


def _signature_html(definition: Definition, path: str) -> str:
    return "\n".join(highlighted(signature(definition), lambda address: relative(path, address)))


def _methods(node: ast.AST) -> Iterator[Function]:
    """The public methods of a class, without setters and mere types; what makes it is in its signature."""
    for each in getattr(node, "body", []):
        if isinstance(each, Function) and (not each.name.startswith("_") or each.name in _SPECIAL):
            decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in each.decorator_list}
            if not decorators & {"setter", "overload"}:
                yield each


def signature(definition: Definition) -> str:
    """The way it is called: a function with its arguments, a class with those of its __init__ or its fields."""
    node = definition.node
    if isinstance(node, Function):
        decorators = [f"@{name}\n" for name in map(ast.unparse, node.decorator_list) if re.fullmatch(r"\w+", name)]
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"{''.join(decorators)}def {node.name}({_arguments(node)}){returns}"
    if isinstance(node, ast.ClassDef):
        bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
        made = next((each for each in node.body if isinstance(each, Function) and each.name == "__init__"), None)
        fields = [ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign)]
        lines = [f"__init__({_arguments(made)})"] if made else fields
        return f"class {node.name}{bases}" + "".join(f"\n    {line}" for line in lines)
    if isinstance(node, ast.Module):
        return f"import {definition.source.module}"
    return ast.unparse(node)


def _arguments(node: Function) -> str:
    """The arguments without self."""
    text = ast.unparse(node.args)
    return re.sub(r"^(?:self|cls)(?:, |$)", "", text)
