"""The first page: the chapters, the files in reading order, and the reference."""

from __future__ import annotations

import re
from itertools import groupby

from npbert.pages.html import escape
from npbert.pages.site.docstring import Texts
from npbert.pages.site.frame import Page
from npbert.pages.site.library import Library
from npbert.pages.site.proofs import Proof, in_words
from npbert.pages.site.reference import public_names, reference_path, rooms_with_names
from npbert.pages.site.sources import Source

_PICTURE = "docs/pictures/encoder_layer.svg"
_NO_CHAPTERS = "The chapters stand in docs/ of the repository and of the sdist, which are not here."


def contents_page(library: Library, proofs: list[Proof], num_bugs: int) -> Page:
    """index.html: what there is, in the order to read it in."""
    bugs = f" Beside the backwards stand {num_bugs} planted bugs, which the checks reject." if num_bugs else ""
    checked = f"<p>When this site was made, every backward was checked: {in_words(proofs)}{bugs}</p>" if proofs else ""
    body = (
        f"<header><h1>npbert, to read</h1><div class=lead><p>BERT in NumPy, with every derivative written by hand. "
        f"Here is its source in the order to read it in, each forward beside the backward that undoes it.</p>"
        f"{checked}</div>{_picture(library)}</header>"
        f'<section class="part" id="chapters"><h2>1. The chapters</h2>{_chapters(library)}</section>'
        f'<section class="part" id="source"><h2>2. The source</h2>{_rooms(library)}</section>'
        f'<section class="part" id="api"><h2>3. The reference</h2>{_reference(library)}</section>'
    )
    return Page("index.html", "npbert, to read", "contents", body)


def _picture(library: Library) -> str:
    """Forward and backward through an encoder layer, where the repository is at hand."""
    if not (library.root / _PICTURE).is_file():
        return ""
    alt = "Above, forward runs through an encoder layer; below, backward runs back; between them is the tape."
    return f'<a href="npbert/blocks/encoder_layer.html"><img src="{_PICTURE}" alt="{alt}"></a>'


def _chapters(library: Library) -> str:
    if not library.chapters:
        return f'<p class="quiet">{_NO_CHAPTERS}</p>'
    first, *others = library.chapters
    told = dict(re.findall(r"\]\(([\w-]+\.md)\):\s*((?:[^\n]+\n?)+?)(?=\d+\. |\n|\Z)", first.text))
    items = []
    for chapter in others:
        said = " ".join(told.get(chapter.path.removeprefix("docs/"), "").split())
        title = re.sub(r"^\d+\. ", "", chapter.title)
        number = f"<b>{chapter.number}</b>" if chapter.number else "<b>+</b>"
        items.append(
            f'<li>{number}<a href="{escape(chapter.page)}">{escape(title)}</a>'
            f"<p>{escape(said[:1].upper() + said[1:])}</p></li>"
        )
    start = f'<p><a href="{escape(first.page)}">How to read them</a></p>'
    return f'{start}<ol class="chapters">{"".join(items)}</ol>'


def _rooms(library: Library) -> str:
    sections = [
        '<p>Begin with <a href="npbert/__init__.html">npbert itself</a>: '
        "it says what the letters N, D, H and so on mean.</p>"
    ]
    own = [source for source in library.sources if source.path.startswith("npbert/")]
    top = [source for source in own if not source.room]
    for room, sources in groupby(
        [source for source in own if source.room], key=lambda source: source.room.split("/")[0]
    ):
        sections.append(_room(library, room, list(sources)))
    beside = [source for source in library.sources if source not in own]
    last = _room(library, "npbert", [*top, *beside], said="What stands in no room.")
    return f'<div class="rooms">{"".join(sections)}{last}</div>'


def _room(library: Library, room: str, sources: list[Source], said: str = "") -> str:
    first, *files = sources
    texts = Texts(library, first, "index.html")
    told = said or texts.inline(first.summary, 1)
    title = f'<a href="{escape(first.page)}">{escape(room)}/</a>' if not said else f"{escape(room)}/"
    shown = "".join(_file(library, source, room) for source in (sources if said else files))
    return f'<section class="room" id="room-{escape(room)}"><h3>{title}</h3><p>{told}</p><ul>{shown}</ul></section>'


def _file(library: Library, source: Source, room: str) -> str:
    name = source.path.removeprefix("npbert/").removeprefix(f"{room}/").removesuffix(".py")
    name = f"{name.removesuffix('/__init__')}/" if name.endswith("/__init__") else name
    said = Texts(library, source, "index.html").inline(source.summary, 1)
    return f'<li><a href="{escape(source.page)}">{escape(name)}</a> <span>{said}</span></li>'


def _reference(library: Library) -> str:
    rows = []
    for room in rooms_with_names(library):
        page = reference_path(room)
        names = ", ".join(f'<a href="{escape(page)}#{escape(name)}">{escape(name)}</a>' for name in public_names(room))
        rows.append(f'<dt><a href="{escape(page)}">{escape(room.module)}</a></dt><dd>{names}</dd>')
    return f'<dl class="reference">{"".join(rows)}</dl>'
