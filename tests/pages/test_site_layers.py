"""A layer on the reading site: forward beside backward, shapes, its check, its planted bugs, its chapter."""

import ast
import re
from html import unescape

import pytest

from npbert.gradcheck import GradientError, check_gradients
from npbert.pages.site import panels
from npbert.pages.site.definitions import Definitions
from npbert.pages.site.names import declared
from npbert.pages.site.pairs import pairs_in, undone
from npbert.pages.site.panels import read_bugs
from npbert.pages.site.sources import Source
from tests.pages.built_site import ROOT, library, line_of, links_of, page

ROOMS = ("layers", "blocks", "models")


def classes_with_backward():
    for source in library().sources:
        if source.room in ROOMS:
            for node in source.tree.body:
                names = {each.name for each in getattr(node, "body", []) if isinstance(each, ast.FunctionDef)}
                if isinstance(node, ast.ClassDef) and names & {"backward", "value_and_slope"}:
                    yield source, node


LAYERS = list(classes_with_backward())


def panel(source, name):
    """The panel below the code of a class: from its own panel's beginning to its end."""
    return page(source.page).partition(f'aria-label="what is known of {name}"')[2].partition("</aside>")[0]


def test_a_layer_with_a_backward_has_its_check_beside_it_and_forward_beside_backward():
    """And its chapter and exercise, where its docstring names them."""
    for source, node in LAYERS:
        shown = panel(source, node.name)
        assert re.search(r"[\d,]+ derivatives, each of them proved", shown)
        text = ast.get_docstring(node)
        for number in re.findall(r"\d+", "".join(re.findall(r"[Cc]hapters? ([\d and]+) of docs/", text))):
            assert re.search(rf'<a href="../../docs/{int(number):02}-[\w-]+\.html">{number}\. ', shown)
        for number in re.findall(r"in exercise (\d+)", text):
            assert f"exercise {number}, " in shown and f"npbert learn check {int(number):02}" in shown
        own = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        sides = re.findall(r'<div class="side (\w)" id="([^"]*)"', page(source.page))
        for forward, backward in (("forward", "backward"), ("value", "value_and_slope")):
            if {forward, backward} <= own:
                place = sides.index(("a", f"{node.name}.{forward}"))
                assert sides[place + 1] == ("b", f"{node.name}.{backward}")


def test_the_figures_are_those_of_the_class():
    """Of a base class those of what is made from it; of a part, those of a block that it is in."""
    for name, figures in (("Linear", "1,001"), ("Elementwise", "4,014"), ("SinusoidalPositions", "1,028")):
        shown = panel(library().definitions.find("npbert", name).source, name)
        assert f"{figures} derivatives" in shown
        assert "1e-13 from finite differences" in shown or "2e-13 from" in shown


def test_the_check_is_that_of_npbert_and_a_wrong_derivative_stops_the_build(monkeypatch):
    setting = panels.CATALOGUE["Tanh"]
    monkeypatch.setattr(panels, "CATALOGUE", {"Tanh": setting})
    ((*_, count, differences, complex_step),) = panels.prove()
    layer, inputs, rng = setting.make()
    report = check_gradients(layer, *inputs, rng=rng)
    assert [count, differences, complex_step] == [report.count, *(one.relative_error for one in report.worst.values())]
    wrong = type("Tanh", (setting.layer_class,), {"backward": lambda self, dy, tape: 2 * dy * tape.take(self)})
    panels.CATALOGUE["Tanh"] = type(setting)(wrong, setting.build, setting.inputs)
    with pytest.raises(GradientError, match=r"^Tanh: FAIL: dx is 2\.000 times too large"):
        panels.prove()


def test_every_planted_bug_is_shown_once():
    bugs = read_bugs(ROOT)
    assert len(bugs) > 80
    shown = re.findall(r'data-bug="(\w+)"', "".join(page(source.page) for source in library().sources))
    assert sorted(shown) == sorted(bug.name for bug in bugs)


@pytest.mark.parametrize(
    ("path", "bug", "lines"),
    [
        ("layers/softmax", "writes_in_its_output", ["p = tape", "- check_like(", "- return soft", "+ return p.copy"]),
        ("layers/embedding", "ids_not_checked", ["- check_ids(", "tape.keep(", "return self.weight"]),
        ("blocks/encoder_layer", "residual_lost", ["+ dh = self.feed", "+ return dq"]),
    ],
)  # fmt: skip
def test_a_bug_shows_which_lines_are_wrong(path, bug, lines):
    """ "+" before what is wrong, "-" before what stands there in the library, nothing before what both have."""
    found = page(f"npbert/{path}.html").partition(f'data-bug="{bug}"')[2].partition("</details>")[0]
    rows = re.findall(r'<span class="\w+"><b aria-hidden="true">(.)</b>(.*?)\n</span>', found, re.DOTALL)
    shown = iter([f"{mark.strip()} {unescape(line).strip()}".strip() for mark, line in rows])
    for line in lines:
        assert any(each.startswith(line) for each in shown), line  # in this order


@pytest.mark.parametrize(
    ("path", "function", "back"),
    [
        ("blocks/encoder_layer", "EncoderLayer", [6, 5, 4, 3, 2, 1]),
        ("blocks/masked_lm_head", "MaskedLMHead", [4, 3, 2, 1]),
        ("layers/linear", "Linear", [1]),
    ],
)
def test_what_is_undone_has_the_number_of_what_undoes_it(path, function, back):
    """Forward counts up, and backward counts down."""
    source = library().by_path[f"npbert/{path}.py"]
    node = library().definitions.find(source.module, function).node
    found = undone(source, pairs_in(node.body)[0])
    assert [both.forward for both in found] == sorted(both.forward for both in found) or len(found) > 2
    in_order = sorted(found, key=lambda both: both.backward)
    assert [both.number for both in in_order] == back
    marks = re.findall(r'<a class="mark" id="([ud]\d+-\d+)" href="#([ud]\d+-\d+)"', page(source.page))
    assert len(marks) == 2 * len(back) and all((there, here) in marks for here, there in marks)


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("layers/linear", "return matmul(x, self", {"x": "x (N, I)", "weight": "weight (I, O)", "bias": "bias (O,)"}),
        ("layers/linear", "def backward", {"dy": "dy (N, O)"}),
        ("layers/layer_norm", "x_hat, sigma = tape.take", {"x_hat": "x_hat (N, D)", "sigma": "sigma (N, 1)"}),
        ("layers/layer_norm", "dx = np.subtract", {"shift": "shift (N, 1)", "dx_hat": "dx_hat (N, D)"}),
        ("layers/dot_product_attention", "p = _probabilities(q, k)", {"q": "q (…, R, d)", "k": "k (…, T, d)"}),
        ("layers/dot_product_attention", "da = dc @", {"da": None, "dc": "dc (…, R, d)"}),
        ("layers/dot_product_attention", "tape.keep(self, q", {"q": "q (M, D)", "k": "k (N, D)"}),
    ],
)  # fmt: skip
def test_a_variable_has_the_shape_that_the_file_declares(path, text, wanted):
    found = links_of(f"npbert/{path}.html", line_of(f"npbert/{path}.py", text))
    assert {name: found[name][1] for name in wanted} == wanted


def test_shapes_are_read_from_docstrings():
    for text, wanted in {
        "x (N, I)   weight W (I, O)": {"x": "(N, I)", "weight": "(I, O)", "W": "(I, O)"},
        "k, v (N, D): rows": {"k": "(N, D)", "v": "(N, D)"},
        "y (N, D), x̂ (N, D) and σ (N, 1).": {"y": "(N, D)", "x_hat": "(N, D)", "x̂": "(N, D)", "σ": "(N, 1)"},
        "a mean (of all) and f(x)": {},
    }.items():
        assert wanted.items() <= declared(text).items() and (wanted or not declared(text))


@pytest.mark.parametrize(
    ("path", "text", "name", "address"),
    [
        ("layers/linear", "tape.keep(self, x=x)", "keep", "../core/tape.html#Tape.keep"),
        ("layers/linear", "return matmul(dy", "matmul", "../compute/products.html#matmul"),
        ("layers/layer_norm", "rowwise(self.normalize", "normalize", "#LayerNorm.normalize"),
        ("blocks/encoder_layer", "self.attention.backward", "backward", "attention.html#MultiHeadAttention.backward"),
        ("blocks/attention", "from npbert.layers import", "Linear", "../layers/linear.html#Linear"),
        ("layers/gelu", "class GELU(", "Elementwise", "elementwise.html#Elementwise"),
        ("layers/layer_norm", "np.subtract", "shift", f"#L{line_of('npbert/layers/layer_norm.py', 'shift = ')}"),
    ],
)
def test_a_name_leads_to_its_definition(path, text, name, address):
    assert links_of(f"npbert/{path}.html", line_of(f"npbert/{path}.py", text))[name][0] == address


def test_definitions_follow_imports_base_classes_and_types():
    files = {
        "a": "class A:\n    def f(self) -> 'B': ...\n    def g(self): ...\n",
        "b": "from a import A\nclass B(A):\n    def __init__(self):\n        self.part = A()\n",
        "c": "import b\nfrom b import B as Renamed\n",
    }
    found = Definitions(Source(f"{name}.py", text) for name, text in files.items())
    for name, address in {"Renamed": "b.html#B", "Renamed.g": "a.html#A.g", "Renamed.part.f": "a.html#A.f",
                          "b.B.part": "b.html#L4", "b.A": "a.html#A"}.items():  # fmt: skip
        assert found.find("c", name).address == address
    assert found.find("c", "Renamed.nothing") is None and found.find("c", "nothing") is None
