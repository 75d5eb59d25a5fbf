"""build_site: the whole site, written into a folder."""

import errno
import posixpath
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from npbert.io.extras import import_extra
from npbert.io.files import FileError
from npbert.io.messages import LOGGER
from npbert.pages.html import joined, resource
from npbert.pages.number.page import number_page
from npbert.pages.site.chapters import chapter_page, pictures_of
from npbert.pages.site.contents import contents_page, reference_pages, search_index
from npbert.pages.site.errors import errors_in, errors_page
from npbert.pages.site.library import Library
from npbert.pages.site.number import NUMBER_PAGE, number_data
from npbert.pages.site.panels import Panels, ProofPanel, prove, read_bugs
from npbert.pages.site.rendering import render
from npbert.pages.site.source_page import source_page
from npbert.pages.site.sources import PACKAGE

_LIST = "site-files.txt"
_ANCHOR = re.compile(r'\sid="([^"]*)"')
_LINK = re.compile(r'\s(?:href|src)="([^"]*)"')
_STYLE = ["look.css", *(f"site/{name}.css" for name in ("site", "columns", "code", "text", "small"))]


def build_site(
    folder: Path,
    *,
    root: Path | None = None,
    proofs: list[ProofPanel] | None = None,
    number: dict[str, Any] | None = None,
    processes: int = 1,
) -> int:
    """Write the site into a folder, a new one or that of an earlier site, and return the number of its pages.

    root: the repository, for its chapters and planted bugs; None for the folder that npbert is in.
    proofs: what `prove` found, None to find out now, in so many processes. number: what `number_data` gives, None to
    train now.

    Raises: FileExistsError when the folder holds anything else, or OSError when it cannot be written, both before the
    check; FileError for a link that leads nowhere, with file and line; MissingExtraError without the extra `site`;
    GradientError when a derivative is wrong.
    """
    _check_folder(folder)
    parent = next(each for each in folder.resolve().parents if each.exists())
    with _naming(folder):  # before the work of a minute
        Path(tempfile.mkdtemp(prefix=".npbert-site.", dir=parent)).rmdir()
    for module in ("jinja2", "pygments", "markdown_it"):
        import_extra(module, extra="site")
    library = Library(root or PACKAGE.parent)
    if proofs is None:
        LOGGER.info("checking every derivative and training a small model, which takes up to a minute, then writing")
    files = site_files(library, prove(processes) if proofs is None else proofs, number or number_data())
    files[_LIST] = "\n".join([*sorted(files), _LIST, ""]).encode()
    _write(folder, files)
    return sum(path.endswith(".html") for path in files)


def site_files(library: Library, proofs: list[ProofPanel], number: dict[str, Any]) -> dict[str, bytes]:
    """Every file of the site by its path. Raises: as build_site."""
    bugs = read_bugs(library.root)
    panels = Panels(library, proofs, bugs)
    followed = number["source"]["files"]  # the number page has steps that they compute
    pages = [contents_page(library, proofs, len(bugs))]
    pages += [chapter_page(library, chapter) for chapter in library.chapters]
    pages += [source_page(library, source, panels, source.path in followed) for source in library.sources]
    errors = errors_in(library)
    pages += [*reference_pages(library, errors), errors_page(library, errors)]
    around = zip([None, *pages[:-1]], pages, [*pages[1:], None], strict=True)
    html = {page.path: render("frame", page.path, page=page, before=a, after=b) for a, page, b in around}
    shared = {
        "site.css": "\n".join(map(resource, _STYLE)),
        "site.js": f'"use strict";\n{joined(["theme.js", "site/site.js"])}',
        "search.js": search_index(library, pages, errors),
        NUMBER_PAGE: number_page({**number, "site": ""}),
    }
    files = {path: text.encode() for path, text in {**html, **shared}.items()} | pictures_of(library)
    others = dict.fromkeys(files.keys() - html.keys(), ()) | {NUMBER_PAGE: [f"file={path}" for path in followed]}
    wrong = broken_links(html, others)
    if wrong:
        raise FileError(f"{len(wrong)} links of the site are broken; the first: {wrong[0]}")
    return files


def broken_links(pages: Mapping[str, str], files: Mapping[str, Collection[str]]) -> list[str]:
    """The links that lead nowhere or outside, a line for each. pages: HTML by path. files: by the paths of all else,
    the places in it that a link may name.

    In the site's HTML every address stands in double quotes, and in a text there are none: they are escaped.
    """
    anchors, wrong = dict(files), []
    for path, text in pages.items():
        named = Counter(map(unescape, _ANCHOR.findall(text)))
        wrong += [f"{path}: two places are called {anchor}" for anchor, times in sorted(named.items()) if times > 1]
        anchors[path] = set(named)
    for path, text in pages.items():
        for link in dict.fromkeys(map(unescape, _LINK.findall(text))):
            address, _, anchor = unquote(link).partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), address)) if address else path
            if address.startswith("data:"):
                continue
            if ":" in address or address.startswith("/") or target.startswith(".."):
                wrong.append(f"{path}: {link} leads outside")
            elif target not in pages and target not in files:
                wrong.append(f"{path}: {link} leads nowhere")
            elif anchor and anchor not in anchors.get(target, ()):
                wrong.append(f"{path}: {link}: there is no such place on that page")
    return wrong


def _check_folder(folder: Path) -> None:
    """Refuse a folder with anything in it that is not of an earlier site."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(errno.EEXIST, "is a file, wanted a folder for the site", str(folder))
    listed = folder / _LIST
    known = set(listed.read_text(encoding="utf-8").splitlines()) if listed.is_file() else set()
    paths = folder.rglob("*") if folder.is_dir() else ()
    names = (path.relative_to(folder).as_posix() for path in paths if not path.is_dir())
    strange = next((name for name in names if name not in known), None)  # of a whole disk, the first is enough
    if strange is not None:
        raise FileExistsError(
            errno.EEXIST, f"holds {strange}, which is not a part of a site: give a new folder", str(folder)
        )


@contextmanager
def _naming(folder: Path) -> Iterator[None]:
    """An OSError names the folder that the user gave, and not a file that nobody knows."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"cannot be written: {error.strerror}", str(folder)) from error


def _write(folder: Path, files: dict[str, bytes]) -> None:
    """All of them in place of what was there: until they are all written, the old site stays."""
    whole = folder.resolve()
    with _naming(folder):
        whole.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=f".{whole.name}.", dir=whole.parent, ignore_cleanup_errors=True
        ) as unfinished:
            new = Path(unfinished, whole.name)
            for path, content in files.items():
                (new / path).parent.mkdir(parents=True, exist_ok=True)
                (new / path).write_bytes(content)
            if whole.exists():
                shutil.rmtree(whole)
            new.replace(whole)
