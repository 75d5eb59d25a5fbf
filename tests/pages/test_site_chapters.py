"""The texts of the reading site: chapters in Markdown, docstrings and code, with formulas and links to its pages."""

import re
from copy import copy
from html import unescape

import pytest

from npbert.pages.site.chapters import chapter_page
from npbert.pages.site.docstring import Texts, table
from npbert.pages.site.library import read_chapters
from npbert.pages.site.panels import Bug
from npbert.pages.site.rendering import Page, _environment, highlighted, render
from npbert.pages.site.sources import Source
from tests.pages.built_site import library, line_of, page

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
        ("[here](#one), `Linear`", ', <a href="../npbert/layers/linear.html#Linear"><code>Linear</code></a>'),
        ("[home](../README.md)", '<a href="../index.html">home</a>'),
        ("[out](https://example.org/a)", '<span class="outside" title="https://example.org/a">out</span>'),
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


def test_what_a_template_is_given_shows_as_text():
    page = Page("a.html", '<i> & "', "chapter", "<p>body</p>", '<i> & "')
    html = render("frame", page.path, page=page, before=page, after=None)
    assert "<i>" not in html and "<p>body</p>" in html
    assert html.count("&lt;i&gt; &amp; &#34;") == 5, "its title, what it is about, and the two ways back"
    planted = Bug("bug", "<i> in `<b>`", "", {}, (), "", "")
    known = {"name": "x", "bugs": [(planted, "")], "proofs": [], "chapters": [], "exercises": []}
    shown = _environment().from_string('{% from "panel.html" import panel %}{{ panel(known) }}').render(known=known)
    assert "&lt;i&gt; in <code>&lt;b&gt;</code>" in shown


def test_every_chapter_is_a_page_with_its_headings_and_code_and_quotes_are_linked_to_their_lines():
    for chapter in library().chapters:
        html = page(chapter.page)
        text = re.sub(r"^```.*?^```", "", chapter.text, flags=re.DOTALL | re.MULTILINE)
        assert len(re.findall(r"<h[1-4] id=", html)) == len(re.findall(r"^#+ ", text, re.MULTILINE))
        assert html.count('<pre class="python"') == len(re.findall(r"^```python", chapter.text, re.MULTILINE))
        assert html.count("<img ") == chapter.text.count("![")
    line = line_of(LINEAR, "x.T")
    assert f"../npbert/layers/linear.html#L{line}" in page(library().chapter(3).page) + page(library().chapter(2).page)


def test_what_begins_in_one_column_stands_in_one():
    html = table(["one  two", "     below", "a    b"], str)
    assert '<tr><td>one</td><td>two</td></tr><tr><td colspan="1"></td><td>below</td></tr>' in html


def text_of(docstring, page="npbert/hostile.html"):
    source = Source("npbert/hostile.py", f"""'''One.\n\n{docstring}'''\n""")
    return Texts(library(), source, page).docstring(source.tree)


@pytest.mark.parametrize(
    ("docstring", "line", "why"),
    [
        ("Chapter 99 of docs/ derives it.", 3, "there is no chapter 99 in docs/"),
        ("Two lines, and\nin exercise 99 you do.", 4, "there is no exercise 99"),
        ("As in nowhere.py, say.", 3, "there is no file nowhere.py"),
        ("`Linear.sideways` is called.", 3, "`Linear.sideways` names nothing"),
        ("`npbert.core.Nothing` is called.", 3, "`npbert.core.Nothing` names nothing"),
    ],
)
def test_a_link_to_nothing_in_a_docstring_names_file_and_line(docstring, line, why):
    with pytest.raises(ValueError) as caught:
        text_of(docstring)
    assert str(caught.value) == f"npbert/hostile.py, line {line}: {why}"


@pytest.mark.parametrize(
    ("docstring", "shown"),
    [
        ("Chapter 5 of docs/ derives it.", 'href="../docs/05-layer-norm.html"'),
        ("As `Linear.backward` does.", 'href="layers/linear.html#Linear.backward"'),
        ("Derived in softmax.py.", 'href="layers/softmax.html"'),
        ("`npbert.data.Batch` is one.", 'href="data/batch.html#Batch"'),
        ("<script>alert(1)</script> & \"quotes\"", "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;"),
        ("`<b onclick=x>`", "<code>&lt;b onclick=x&gt;</code>"),
        ("x (N, D)   <i> (N, D)", "&lt;i&gt;"),
        ("- <i>   two\n- <b>   three", "<td>&lt;i&gt;</td>"),
        ("    <i>  indented", "&lt;i&gt;  indented"),
        ("rng: a\nb. seed, n: c.", "<dt>rng</dt><dd>a\nb.</dd></div><div class=said><dt>seed, n</dt><dd>c.</dd>"),
        ("Raises: <i>.", '<p class="raises">Raises: &lt;i&gt;.</p>'),
    ],
)  # fmt: skip
def test_a_docstring_is_text_with_links(docstring, shown):
    assert shown in text_of(docstring)


def test_hostile_names_in_code_are_text():
    text = 's = "</span><script>" + f"{s}<b>"  # <!-- "&amp;"\nprint("""a\n  <i>""")'
    lines = highlighted(text, lambda address: address)
    assert "<" not in re.sub(r'</?span(?: class="\w+")?>', "", "".join(lines))
    assert [unescape(re.sub(r"<[^>]*>", "", line)) for line in lines] == text.split("\n")
