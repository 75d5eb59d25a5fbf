"""The path through docs/: chapters, exercises, pictures, symbols and links belong together."""

import re
import runpy
import shutil
from urllib.parse import unquote_plus

import pytest

from npbert import BertConfig
from npbert.learn.exercises import ALL
from npbert.pages.number.network import network
from tests.test_docs import CHAPTERS, DOCS, LINK, PACKAGE, PAGES, ROOT, chapters, read, there

TOURS = PACKAGE / "pages" / "number" / "tours.html"
PAGE = "dialogue.html"
"""The page of a small BERT, which `python demo.py --page docs/dialogue.html` writes."""


def beside(page):
    """The paragraph that names the code beside a chapter."""
    return re.search(r"^Code: .*?\n\n", read(page), re.DOTALL | re.MULTILINE).group()


def exercises_in(page):
    """The numbers of the exercises that a chapter names at its end."""
    named = re.findall(r"^Now write it yourself: exercises? (.*?) of", read(page), re.MULTILINE)
    return re.findall(r"\d+", " ".join(named))


@chapters
def test_the_layers_that_a_chapter_derives_name_it(page):
    """Each layer and block says in which chapter it is derived, and that chapter names it at its beginning."""
    for _, file in LINK.findall(beside(page)):
        if re.search(r"npbert/(layers|blocks)/", file):
            found = re.search(
                r"[Cc]hapters?\s+(?:[23] and )?(\d+)\s+of\s+docs/\s+derives?", read(there(f"docs/{file}"))
            )
            assert found, f"{file} names no chapter"
            assert f"]({file})" in beside(CHAPTERS[int(found.group(1))])


def test_exercises_and_chapters_know_one_another():
    """An exercise names its chapter by its title and file, and the chapter names its exercises."""
    left = dict(ALL)
    for page in CHAPTERS:
        number, title = re.match(r"# (\d+)\. (.*)", read(page)).groups()
        chapter = f'chapter {number}, "{title}" (docs/{page.name})'
        wanted = [left.pop(key).code for key, exercise in ALL.items() if exercise.chapter == chapter]
        assert exercises_in(page) == [code for code in wanted if len(code) == 2]
    assert not left


def test_the_path_has_each_chapter_with_its_code_its_view_its_exercise_and_its_lines():
    rows = re.findall(r"^\| (\[\d+\. .*) \|$", read(DOCS / "README.md"), re.MULTILINE)
    bert = read(DOCS / "bert.py").splitlines()
    for row, page in zip(rows, CHAPTERS, strict=True):
        chapter, _, code, view, exercises, lines = row.split(" | ")
        head = beside(page).replace("\n", " ")
        assert chapter == f"[{read(page).partition(chr(10))[0].removeprefix('# ')}]({page.name})"
        assert LINK.findall(code) == [link for link in LINK.findall(head) if link[1].startswith("../npbert/")]
        assert LINK.findall(view) == [link for link in LINK.findall(head) if link[1].startswith(PAGE)]
        assert re.findall(r"\d+", exercises) == exercises_in(page)
        for name, number in re.findall(r"`(\w+)` (\d+)", lines):
            assert re.match(rf"(def|class) {name}\b", bert[int(number) - 1]) and f"`{name}`" in head


def test_a_link_to_the_page_leads_to_something_that_it_has():
    """To a stop of a tour, or to a step by its kind."""
    tours = {
        name: stops.count("<li ")
        for name, stops in re.findall(r'<section data-tour="(\w+)">(.*?)</section>', read(TOURS), re.DOTALL)
    }
    kinds = {step["kind"] for step in network(BertConfig.preset("bert-tiny", hidden_act="gelu"))}
    for page in CHAPTERS:
        for address in re.findall(rf"\({PAGE}#(.*?)\)", read(page)):
            given = dict(each.split("=") for each in unquote_plus(address).split("&"))
            if tour := given.get("tour"):
                name, stop = tour.split(":")
                assert 1 <= int(stop) <= tours[name]
            elif not given["step"].isdigit():
                assert re.match(r"(first|last):(forward|backward) (\w+)", given["step"])[3] in kinds


def test_the_list_of_pages_has_each_page_in_order():
    links = [link for _, link in LINK.findall(read(DOCS / "README.md")) if link.endswith(".md")]
    assert [link for link in links if DOCS / link in PAGES] == [page.name for page in PAGES]
    assert {*links, "README.md"} == {page.name for page in DOCS.glob("*.md")}


def test_a_picture_is_what_its_script_draws(tmp_path):
    for script in sorted((DOCS / "pictures").glob("*.py")):
        shutil.copy(script, tmp_path)
        runpy.run_path(str(tmp_path / script.name), run_name="__main__")
    drawn = {path.name: read(path) for path in tmp_path.glob("*.svg")}
    assert drawn == {path.name: read(path) for path in (DOCS / "pictures").glob("*.svg")}
    shown = " ".join(map(read, DOCS.glob("*.md")))
    assert [name for name in drawn if f"(pictures/{name})" not in shown] == []


TEXTS = [*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("notebooks/*.ipynb")]


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_each_link_leads_to_a_file_and_a_heading_of_the_clone(page):
    """Without a network; the page of a small BERT is written by a command."""
    for link in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        name, _, heading = link.partition("#")
        if link.startswith("https://") or name == PAGE:
            continue
        target = there(page.parent / name) if name else page
        assert target.exists(), f"{page.name}: {link}"
        if heading and target.suffix == ".md":
            titles = re.findall(r"^#+ (.*)$", read(target), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles], link
