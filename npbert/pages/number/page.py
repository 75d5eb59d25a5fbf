"""The page itself: one HTML file with the data, the look and all of its program, which opens from disk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from npbert.files import atomic_write
from npbert.models import BertForMaskedLM, BertForPreTraining
from npbert.pages.html import json_script, module_script, page, resource
from npbert.pages.number.export import MaskedSentence, export

FOLDER = "number"
START = f"{FOLDER}/js/ui/main.js"
STYLES = ("top", "steps", "heat", "legend", "follow", "curves", "fit")
TITLE = "Follow one number back"
GLOSSARY = "<!-- glossary.html -->"
_IMPORTED = re.compile(r'^(?:import|export) .*from "(.*)";$', re.MULTILINE)


def write_number_page(
    model: BertForMaskedLM | BertForPreTraining,
    examples: Sequence[MaskedSentence],
    vocabulary: Sequence[str],
    path: str | Path,
    *,
    title: str = TITLE,
    optimizer: dict[str, Any] | None = None,
) -> None:
    """Write the page of a model small enough to be seen whole: one HTML file, which needs no network.

    examples: masked sentences; the first is what the page shows when it opens, the others are to be chosen, and it
    trains on all of them. vocabulary: the V tokens by id. optimizer: `lr`, `betas`, `eps` and `weight_decay` of AdamW
    in the page, where they are not its own.

    Raises: TypeError for a model without a masked-LM head; ValueError for one that is too large for a page, and for
    examples that do not fit it; OSError when the file cannot be written.
    """
    text = number_page(export(model, examples, vocabulary, title=title, optimizer=optimizer))
    with atomic_write(Path(path)) as written:
        written.write_text(text, encoding="utf-8")


def number_page(data: dict[str, Any]) -> str:
    """The page as HTML. data: what `export` gives."""
    return page(
        data["title"],
        resource(f"{FOLDER}/page.html").replace(GLOSSARY, resource(f"{FOLDER}/glossary.html")),
        style="\n".join(resource(f"{FOLDER}/css/{name}.css") for name in STYLES),
        scripts=json_script("data", data) + "\n" + module_script(modules(START)),
    )


def modules(start: str) -> list[str]:
    """The paths of a module and of all that it imports, each after those that it needs, by their paths in pages/."""
    found: dict[str, None] = {}
    on_the_way: set[str] = set()

    def visit(path: str) -> None:
        if path in on_the_way:
            return
        on_the_way.add(path)
        for imported in _IMPORTED.findall(resource(path)):
            visit(_joined(PurePosixPath(path).parent, imported))
        found[path] = None

    visit(start)
    return list(found)


def _joined(folder: PurePosixPath, path: str) -> str:
    """number/js/ui and ../math/index.js -> number/js/math/index.js"""
    parts: list[str] = []
    for part in (folder / path).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
