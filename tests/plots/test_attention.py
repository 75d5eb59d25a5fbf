"""Heat maps of attention: the numbers are the model's, and every token has its name."""

import numpy as np
import pytest

from npbert import Embed, FillMask
from npbert.plots import plot_attention


@pytest.fixture
def folder(checkpoints):
    return checkpoints["fill-mask"]


def titles(figure):
    return [axes.get_title() for axes in figure.axes[:-1]]


def test_the_numbers_are_those_of_the_model(folder):
    task, text = FillMask.from_pretrained(folder), ("the cat", "a dog ran")
    (encoding,) = task.tokenizer.encode([text])
    wanted = task.model.bert.attention_probabilities(task.tokenizer.batch([encoding]))
    figure = plot_attention(task, text)
    *panels, bar = figure.axes
    assert titles(figure) == [f"layer {n}, head {head}" for n in (1, 2) for head in (1, 2)]
    for axes, of_head in zip(panels, [p for layer in (1, 2) for p in wanted[layer][0]], strict=True):
        np.testing.assert_allclose(axes.collections[0].get_array(), of_head, rtol=1e-6)
    for labels in (panels[2].get_xticklabels(), panels[2].get_yticklabels()):
        assert [label.get_text() for label in labels] == encoding.tokens
    assert bar.get_ylabel() == "share of attention" and panels[0].yaxis_inverted()
    assert (figure.get_supxlabel(), figure.get_supylabel()) == ("key", "query")
    others = plot_attention(folder, "cat"), plot_attention(Embed(task.model.bert, task.tokenizer), "cat " * 28)
    assert (others[1].get_size_inches() > 1.7 * others[0].get_size_inches()).all(), "a cell has its room"


def test_some_layers_and_what_has_no_picture(folder):
    assert titles(plot_attention(folder, "cat", layers=[1, 1, -2])) == ["layer 1, head 1", "layer 1, head 2"]
    with pytest.raises(IndexError, match="layers is 3, wanted 1 to 2"):
        plot_attention(folder, "the cat", layers=[3])
    with pytest.raises(ValueError, match="the text has 62 tokens, wanted at most 48 for a picture"):
        plot_attention(folder, "cat " * 60)
