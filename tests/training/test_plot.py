"""The pictures that a run leaves: its curves at the end, and TensorBoard's, which take next to no time of it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from npbert import Batch, BertForPreTraining
from npbert.io.json_lines import LAYERS_FILE, METRICS_FILE
from npbert.training.plot import PLOT_FILE, Pictures, PlottedText, draw_curves, example_of
from tests.small_tokenizer import small_tokenizer
from tests.training.tiny import TINY, make_trainer

pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed: pip install -e '.[train]'")

NORMS = '{"step": 1, "gradient_norms": {"layer 1": 2.0}, "update_ratios": {"layer 1": 0.001}}\n'


def test_the_curves_are_a_png_or_nothing_when_there_is_nothing_to_draw(tmp_path):
    draw_curves(tmp_path)
    (tmp_path / METRICS_FILE).write_text('{"step": 3, "epoch": 0}\n', encoding="utf-8")
    draw_curves(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [METRICS_FILE]
    (tmp_path / METRICS_FILE).write_text('{"step": 3, "loss": 0.5}\n', encoding="utf-8")
    (tmp_path / PLOT_FILE).write_bytes(b"old")
    draw_curves(tmp_path)
    assert (tmp_path / PLOT_FILE).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert sorted(file.name for file in tmp_path.iterdir()) == [PLOT_FILE, METRICS_FILE]


def test_a_run_draws_its_own_even_when_it_is_shorter_than_the_steps_between_lines(tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr("npbert.training.session.draw_curves", draw_curves)
    monkeypatch.setattr("npbert.training.plot.as_bytes", lambda figure: figures.append(figure) or b"drawn")
    make_trainer(tmp_path, steps=3, log_every=10, evaluate=lambda: {"loss": 1.0}, evaluate_every=2).train()
    (figure,) = figures
    assert (tmp_path / PLOT_FILE).read_bytes() == b"drawn"
    assert [axes.get_title("left") for axes in figure.axes] == ["loss", "accuracy", "learning rate", "gradient norm"]
    assert [line.get_xdata().tolist() for line in figure.axes[0].lines] == [[3], [2, 3]]


class Drawn(Pictures):
    """Keeps the pictures that each evaluation gets, in a run in which one can be drawn at these seconds."""

    def __init__(self, monkeypatch, folder, seconds=(0, 1000, 1000), **options):
        clock = iter(seconds)
        monkeypatch.setattr("npbert.training.plot.time.perf_counter", lambda: next(clock))
        self.pictures, self.figures = [], []
        monkeypatch.setattr("npbert.training.plot.as_bytes", lambda figure: self.figures.append(figure) or b"png")
        events = SimpleNamespace(images=lambda step, pictures: self.pictures.append((step, pictures)))
        super().__init__(folder, events, **{"model": None, **options})

    def judged(self, step=1, **shown):
        self.after(SimpleNamespace(number=step, is_judged=True, shown=shown))
        return self.pictures


CONFUSION = {"labels": ["a", "b"], "counts": [[1, 0], [0, 1]]}


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        ({}, None),
        ({"kind": "labels", **CONFUSION}, "held out/confusion"),
        ({"kind": "tags", **CONFUSION}, "held out/confusion"),
        ({"kind": "numbers", "pairs": [[1, 2], [2, 3]]}, "held out/predictions"),
    ],
)
@pytest.mark.parametrize("norms", [NORMS, ""], ids=["", "before a step was written down"])
def test_what_tensorboard_gets(tmp_path, monkeypatch, shown, name, norms):
    (tmp_path / LAYERS_FILE).write_text(norms, encoding="utf-8")
    names = ["layers/gradient_norms"] * bool(norms) + [name] * bool(name)
    assert Drawn(monkeypatch, tmp_path).judged(**shown) == [(1, dict.fromkeys(names, b"png"))]


def test_tensorboard_sees_where_the_first_and_the_last_layer_look(tmp_path, monkeypatch):
    model = BertForPreTraining(replace(TINY, num_hidden_layers=3), rng=np.random.default_rng(0))
    batch, tokens = Batch(np.array([[2, 8, 9, 3]])), ["[CLS]", "cat", "dog", "[SEP]"]
    drawn = Drawn(monkeypatch, tmp_path, model=model, example=PlottedText(batch, tokens))
    assert drawn.judged() == [(1, {"layers/attention": b"png"})]
    *panels, _ = drawn.figures[0].axes
    found = model.bert.attention_probabilities(batch)
    for axes, p in zip(panels, [*found[1][0], *found[3][0]], strict=True):
        np.testing.assert_allclose(axes.collections[0].get_array(), p, rtol=1e-6)


def test_the_text_for_it_is_the_longest_that_a_picture_has_room_for():
    tokenizer = small_tokenizer("cat dog")
    encodings = tokenizer.encode(["cat " * count for count in (3, 22, 23, 5)])
    batch, tokens = example_of(encodings, tokenizer)
    assert (batch.input_ids.shape, len(tokens)) == ((1, 24), 24)
    assert example_of(encodings[2:3], tokenizer) is None


def test_pictures_take_a_fiftieth_of_the_time_at_most(tmp_path, monkeypatch):
    """The first is expected to take three seconds, so it waits until 50 · 3 s; it takes three, and the next 50 · 6."""
    drawn = Drawn(monkeypatch, tmp_path, [0, 149, 151, 154, 299, 301, 304])
    for step in range(4):
        drawn.judged(step)
    assert [step for step, _ in drawn.pictures] == [1, 3]
