"""docs/bert.py: it trains as the library does, each of its backwards is proved, and what the docs say of it is true."""

import ast
import importlib.util
import re
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import npbert
from npbert import BertConfig, BertForPreTraining
from npbert.compute import erf
from npbert.data import load_dialogue
from npbert.gradcheck import PROVED, REFUTED, prove_vjp

ROOT = Path(__file__).parent.parent
SOURCE = (ROOT / "docs" / "bert.py").read_text(encoding="utf-8")
TEXTS = [(np.array([0, 1]), np.array([0, 1, 2])), (np.array([2]), np.array([3, 4]))]  # rows of x, and of z
EXAMPLES = [([1, 4, 3, 2, 5, 2], [0, 0, 6, 0, 0, 0], 1), ([1, 4, 3, 2, 6, 4, 2], [0, 5, 4, 0, 0, 6, 0], 0)]


def read(source=SOURCE):
    module = ModuleType("bert")
    exec(compile(source, "docs/bert.py", "exec"), vars(module))
    module.erf = erf  # of arrays of the proof's numbers, too, where Python's takes floats alone
    return module


def test_it_trains_as_the_library_does(monkeypatch):
    """The loop is demo.py's own. With 4 heads it makes no difference to dropout whether texts are drawn for one by one,
    as in the file, or those of one length together: four numbers share a draw."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # which the demo would set
    spec = importlib.util.spec_from_file_location("demo", ROOT / "demo.py")
    sys.modules["demo"] = demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    theirs, loss, rng, dialogue = [], BertForPreTraining.loss, np.random.default_rng(7), load_dialogue(9)
    monkeypatch.setattr(BertForPreTraining, "loss", lambda *given: theirs.append(loss(*given)) or theirs[-1])
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
    config = BertConfig(vocab_size=len(dialogue.vocabulary), max_position_embeddings=30, **sizes)
    model = BertForPreTraining(config, rng=rng, dtype=np.float64)
    recipe = demo.Recipe("", {}, epochs=4, steps=10, batch_size=16, learning_rate=2e-3)
    monkeypatch.setitem(demo.RECIPES, "small", recipe)
    args = Namespace(size="small", epochs=4, optimizer="adamw", learning_rate=2e-3)
    demo.train(model, dialogue, args, rng)

    bert, rng = read(), np.random.default_rng(7)
    ours = list(bert.train(bert.Bert(len(bert.WORDS), rng, D=32, H=4, F=64), 40, 2e-3, 0.1, rng))
    assert len(ours) == 40 and np.mean(ours[-5:]) < np.mean(ours[:5]) - 0.1
    assert np.abs(np.array(ours) - [(each.mlm_loss, each.nsp_loss) for each in theirs]).max() < 1e-10


def test_its_dialogue_is_the_librarys():
    bert, dialogue = read(), load_dialogue(9)
    assert (*dialogue.text,) == (*bert.DIALOGUE.splitlines(),)
    assert (dialogue.vocabulary.tokens, dialogue.lines) == (bert.WORDS, bert.LINES)


LAYERS = {  # how each is called, with the file b, a model m and a tape t; and the shapes of what floats it is given
    "linear": (lambda b, m, t, x: b.linear(x, *m.layers[0].inner, t), (5, 8)),
    "gelu": (lambda b, m, t, x: b.gelu(x, t), (5, 8)),
    "layer_norm": (lambda b, m, t, x: b.layer_norm(x, *m.norm, t), (5, 8)),
    "dropout": (lambda b, m, t, x: b.dropout(x, t), (5, 8)),
    "embedding": (lambda b, m, t: b.embedding(np.array([3, 1, 3, 6]), m.word, t),),
    "word_scores": (lambda b, m, t, h: b.word_scores(h, m.word, m.word_bias, t), (5, 8)),
    "cross_entropy": (lambda b, m, t, s: b.cross_entropy(s, np.array([2, 0, 2, 1]), t), (4, 3)),
    "attend": (lambda b, m, t, q, k, v: b.attend(q, k, v, t), (2, 3, 4), (2, 5, 4), (2, 5, 4)),
    "attention": (lambda b, m, t, x, z: b.attention(x, z, TEXTS, m.layers[0], t), (3, 8), (5, 8)),
    "encoder_layer": (lambda b, m, t, x, z: b.encoder_layer(x, z, TEXTS, m.layers[0], t), (3, 8), (5, 8)),
    "bert": (lambda b, m, t: b.bert(b.pack([tuple(map(np.array, example)) for example in EXAMPLES]), m, t),),
}


def prove(name, bert):
    """Of one layer, by the floats that it is given and by every parameter of a small model."""
    call, *shapes = LAYERS[name]
    rng = np.random.default_rng(0)
    model = bert.Bert(7, rng, D=8, H=2, F=5, L=2, longest=9)
    given = [rng.standard_normal(shape) for shape in shapes]

    def forward(*arrays):
        for parameter, value in zip(model.all, arrays[len(given) :], strict=True):
            parameter.value = value
        tape = bert.Tape(0.2, np.random.default_rng(1))
        return call(bert, model, tape, *arrays[: len(given)]), tape

    def backward(dy, *arrays):
        for parameter, value in zip(model.all, arrays[len(given) :], strict=True):
            parameter.grad = np.zeros_like(value)
        for _ in range(2):  # gradients are added, and never set: half of two is one
            _, tape = forward(*arrays)
            dx = getattr(bert, f"{name}_backward")(*as_tuple(dy), tape)
            assert not tape
        return (*as_tuple(dx), *(parameter.grad / 2 for parameter in model.all))

    return prove_vjp(lambda *arrays: forward(*arrays)[0], backward, *given, *(each.value for each in model.all))


def as_tuple(value):
    return () if value is None else value if isinstance(value, tuple) else (value,)


def test_no_backward_is_left_out():
    backwards = set(re.findall(r"^def (\w+)_backward", SOURCE, re.MULTILINE))
    assert LAYERS.keys() == backwards == {name for name, *_ in PLANTED}


@pytest.mark.parametrize("name", LAYERS)
def test_a_backward_is_proved(name):
    proof = prove(name, read())
    assert proof.verdict == PROVED, str(proof)


PLANTED = [
    ("linear", "W.grad += x.T @ dy", "W.grad += x.T @ dy / len(x)"),
    ("linear", "W.grad += x.T @ dy", "W.grad[...] = x.T @ dy"),
    ("gelu", "area + x * curve", "area"),
    ("layer_norm", "- shift - x_hat * stretch", "- shift"),
    ("dropout", "return dy * tape.pop()", "return dy * (tape.pop() > 0)"),
    ("embedding", "np.add.at(W.grad, ids, dy)", "W.grad[ids] += dy"),
    ("word_scores", "E.grad += ds.T @ h", "E.grad += 0"),
    ("cross_entropy", " / len(p)", ""),
    ("attend", "dp - (dp * p).sum(axis=-1, keepdims=True)", "dp - dp * p"),
    ("attention", " + linear_backward(join(dk), tape)", " + 0 * linear_backward(join(dk), tape)"),
    ("encoder_layer", "dh = ds + linear_backward", "dh = linear_backward"),
    ("bert", "dh = dx + dz", "dh = dx"),
]


@pytest.mark.parametrize(("name", "right", "wrong"), PLANTED, ids=[f"{name}: {wrong}" for name, _, wrong in PLANTED])
def test_a_planted_bug_is_refuted(name, right, wrong):
    assert SOURCE.count(right) == 1
    assert prove(name, read(SOURCE.replace(right, wrong))).verdict == REFUTED


def test_it_stands_alone_and_is_short():
    assert len(SOURCE.splitlines()) <= 400
    imports = [node for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", None) or node.names[0].name for node in imports}
    assert names == {"math", "types", "numpy"}


def test_the_table_in_the_docs_has_every_part_and_what_became_of_it():
    page = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*) \| (\[.*) \| .* \|$", page, re.MULTILINE)
    named = [name for parts, _ in rows for name in re.findall(r"`(\w+)`", parts)]
    assert named == [name for name in defined_in(ROOT / "docs" / "bert.py") if not name.endswith("_backward")]
    for name, path in re.findall(r"\[(\w+)\]\(\.\./npbert/([^)]+)\)", str(rows)):
        assert name in defined_in(Path(npbert.__file__).parent / path), f"{name} is not in {path}"


def defined_in(path):
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    return [node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)]


def test_it_says_what_it_learns(tmp_path):
    """Of a smaller model, in 50 steps; the file takes 400."""
    source = SOURCE.replace("train(model, 400,", "train(model, 50,").replace(
        "rng)\n    print", "rng, D=64, F=64)\n    print"
    )
    (tmp_path / "bert.py").write_text(source, encoding="utf-8")
    out = subprocess.run([sys.executable, "bert.py"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    guessing, learned = re.findall(r"^(?:guessing|step  50) +(\d\.\d\d) +(\d\.\d\d)$", out, re.MULTILINE)
    assert guessing == ("3.69", "0.69") and float(learned[0]) < 3.2
    assert len(re.findall(r" -> [a-z, ]+ \(\d+%\)$", out, re.MULTILINE)) == 8
