"""Heat maps of attention: the numbers are the model's, and every token has its name."""

import numpy as np
import pytest

from npbert import BertForMaskedLM, BertModel, FillMask
from npbert.plots import plot_attention
from npbert.plots.attention import attention_figure


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from tests.inference.checkpoints import write_checkpoint  # skips where an extra is not installed

    return write_checkpoint(tmp_path_factory.mktemp("bert"), BertForMaskedLM)


@pytest.mark.parametrize("kind", ["folder", "task", "model"])
def test_the_numbers_are_those_of_the_model(folder, kind):
    task, text = FillMask.from_pretrained(folder), ("the cat", "a dog ran")
    source = {"folder": folder, "task": task, "model": task.model.bert}[kind]
    figure = plot_attention(source, text, tokenizer=task.tokenizer if kind == "model" else None)
    (encoding,) = task.tokenizer.encode([text])
    wanted = task.model.bert.attention_probabilities(task.tokenizer.batch([encoding]))
    *panels, bar = figure.axes
    assert [axes.get_title() for axes in panels] == [f"layer {n}, head {head}" for n in (1, 2) for head in (1, 2)]
    for axes, of_head in zip(panels, [p for layer in (1, 2) for p in wanted[layer][0]], strict=True):
        np.testing.assert_allclose(axes.collections[0].get_array(), of_head, rtol=1e-6)
    for labels in (panels[2].get_xticklabels(), panels[2].get_yticklabels()):
        assert [label.get_text() for label in labels] == encoding.tokens
    assert bar.get_ylabel() == "share of attention"
    assert (figure.get_supxlabel(), figure.get_supylabel(), figure.get_suptitle()) == ("key", "query", "Attention")
    assert panels[0].yaxis_inverted() and not panels[0].collections[0].get_rasterized(), (
        "vectors, the first token above"
    )


def test_a_cell_has_its_room_however_many_there_are():
    sizes = [attention_figure({1: np.ones((2, T, T))}, ["a"] * T).get_size_inches() for T in (40, 80)]
    assert (sizes[1] > 1.7 * sizes[0]).all()


def test_some_layers(folder):
    *panels, _ = plot_attention(folder, "the cat", layers=[1, 1, -2, -1]).axes
    assert [axes.get_title() for axes in panels] == [f"layer {n}, head {head}" for n in (1, 2) for head in (1, 2)]
    with pytest.raises(IndexError, match="layers is 3, wanted 1 to 2"):
        plot_attention(folder, "the cat", layers=[3])


def test_what_has_no_picture(folder):
    with pytest.raises(ValueError, match="the text has 62 tokens, wanted at most 48 for a picture"):
        plot_attention(folder, "cat " * 60)
    with pytest.raises(ValueError, match="tokenizer is missing, wanted the tokenizer of this BertModel"):
        plot_attention(BertModel.from_pretrained(folder, add_pooling_layer=False), "cat")
