"""The chapters on the reading site: Markdown with formulas, code, pictures, and links to pages of the site."""

import re
from copy import copy

import pytest

from npbert.pages.site.chapters import chapter_page
from npbert.pages.site.library import read_chapters, relative
from tests.pages.built_site import library, line_of, page

pytest.importorskip("markdown_it", reason="markdown-it-py is not installed: pip install 'npbert[site]'")
LINEAR = "npbert/layers/linear.py"


@pytest.fixture
def shown(tmp_path):
    """shown(text) -> the HTML of a chapter with this text, which begins in its third line."""

    def rendered(text):
        (tmp_path / "docs" / "pictures").mkdir(parents=True)
        (tmp_path / "docs" / "README.md").write_text("# All\n\n1. [One](01-one.md): it.\n", encoding="utf-8")
        (tmp_path / "docs" / "01-one.md").write_text(f"# 1. One\n\n{text}", encoding="utf-8")
        (tmp_path / "docs" / "pictures" / "a.svg").write_text("<svg/>", encoding="utf-8")
        alone = copy(library())
        alone.root, alone.chapters = tmp_path, read_chapters(tmp_path / "docs")
        return chapter_page(alone, alone.chapter(1)).body

    return rendered


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (f"[linear](../{LINEAR})", '<a href="../npbert/layers/linear.html">linear</a>'),
        ("[first](README.md)", '<a href="README.html">first</a>'),
        ("[here](#one)", '<a href="#one">here</a>'),
        ("[home](../README.md)", '<a href="../index.html">home</a>'),
        ("[out](https://example.org/a)", '<span class="outside" title="https://example.org/a">out</span>'),
        ("[out](mailto:a@example.org)", '<span class="outside" title="mailto:a@example.org">out</span>'),
        ("![A picture](pictures/a.svg)", '<img src="pictures/a.svg" alt="A picture">'),
        ("    dx = dy Wᵀ    db = Σₙ dyₙ", '<span class="row"><span>dx = dy Wᵀ</span><span>db = Σₙ dyₙ</span></span>'),
        (
            "A `Linear` and `linear`.",
            '<a href="../npbert/layers/linear.html#Linear"><code>Linear</code></a> and <code>',
        ),
        ("<b onclick='x'>bold</b> <script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
        ("```text\n<i> 1\n```", '<pre class="output" translate="no">&lt;i&gt; 1</pre>'),
        ("```python\nfrom npbert import Linear\n```", '<a class="name" href="../npbert/layers/linear.html#Linear">'),
        (f"```diff {LINEAR}\n-        <a>\n+        <b>\n```", "&lt;a&gt;\n</span>"),
        (f"```python {LINEAR}\n        self.bias.add_grad(sum_rows(dy))  # (O,)\n```", "linear.html#L"),
    ],
)
def test_it_is_shown_as(text, html, shown):
    assert html in shown(text)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("[a](02-two.md)", 3, "there is no page for 02-two.md"),
        ("One.\n\n[a](../npbert/nowhere.py)", 5, "there is no page for ../npbert/nowhere.py"),
        ("![a](pictures/b.svg)", 3, "there is no picture docs/pictures/b.svg"),
        ("![a](../../secret.svg)", 3, "there is no picture ../secret.svg"),
        ("```diff npbert/nowhere.py\n-a\n```", 3, "there is no file npbert/nowhere.py"),
    ],
)
def test_a_link_to_nothing_names_file_and_line(text, line, why, shown):
    with pytest.raises(ValueError, match=f"^{re.escape(f'docs/01-one.md, line {line}: {why}')}$"):
        shown(text)


def test_every_chapter_is_a_page_with_its_headings_and_code():
    for chapter in library().chapters:
        html = page(chapter.page)
        text = re.sub(r"^```.*?^```", "", chapter.text, flags=re.DOTALL | re.MULTILINE)
        assert len(re.findall(r"<h[1-4] id=", html)) == len(re.findall(r"^#+ ", text, re.MULTILINE))
        assert html.count('<pre class="python"') == len(re.findall(r"^```python", chapter.text, re.MULTILINE))
        assert html.count("<img ") == chapter.text.count("![")


def test_what_a_chapter_quotes_is_linked_to_its_line():
    line = line_of(LINEAR, "x.T")
    assert f"../npbert/layers/linear.html#L{line}" in page(library().chapter(3).page) + page(library().chapter(2).page)


@pytest.mark.parametrize(
    ("of", "address", "link"),
    [
        ("docs/a.html", "docs/b.html", "b.html"),
        ("docs/a.html", "docs/a.html#x", "#x"),
        ("index.html", "npbert/core/tape.html#Tape", "npbert/core/tape.html#Tape"),
        ("npbert/core/tape.html", "index.html", "../../index.html"),
    ],
)
def test_links_are_relative_so_that_the_site_opens_from_disk(of, address, link):
    assert relative(of, address) == link
