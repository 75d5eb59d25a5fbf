"""The chain of factors, what flows along the paths to the loss, and how large each road is: beside NumPy's numbers."""

import numpy as np
import pytest

from tests.pages import models
from tests.pages.test_number_arithmetic import MODELS, answers  # noqa: F401

TINY = 1e-30
EXAMPLE = 1  # of which the paths and roads are asked


def arrays_of(answers, model):  # noqa: F811
    found = answers["models"][model]["traces"][EXAMPLE]["arrays"]
    return {name: np.reshape(array["values"], array["shape"]) for name, array in found.items()}


@pytest.mark.parametrize("model", MODELS)
def test_a_chain_is_a_product_and_its_links_add_up(answers, model):  # noqa: F811
    chains = answers["models"][model]["chains"]
    assert len(chains) > 60
    for one in chains:
        assert one["linked"] == pytest.approx(one["value"], abs=1e-12 * one["sizes"] + 1e-300), one
        assert one["said"] == pytest.approx(one["product"], rel=1e-12), one
        assert one["end"] == "d(loss)" or one["largest"] == 0, one
        assert one["first"] >= one["largest"] * (1 - 1e-12) or one["name"] == "d(logits)", one


@pytest.mark.parametrize("model", MODELS)
def test_what_flows_into_a_stop_flows_out_and_each_cut_carries_the_gradient(answers, model):  # noqa: F811
    loss, difference = answers["models"][model]["paths"], answers["models"][model]["rivalPaths"]
    for found, goal in [(one, "loss") for one in loss] + [(one, "difference") for one in difference]:
        scale = max([abs(road["flow"]) for road in found["roads"]])
        for cut in range(len(found["stops"])):
            flow = sum(road["flow"] for road in found["roads"] if road["from"] < cut <= road["to"])
            assert flow == pytest.approx(found["gradient"], abs=1e-12 * scale), (found["name"], cut)
            into = sum(road["flow"] for road in found["roads"] if road["to"] == cut)
            assert into == pytest.approx(found["stops"][cut]["total"], abs=1e-12 * scale), (found["name"], cut)
        assert found["stops"][-1]["name"] == goal
        ways = {road["road"] for road in found["roads"] if road["from"] == -1}
        both = {"as it comes in", "as an answer"} if goal == "loss" else {"as it comes in"}  # it is neither guess
        assert ways == (both if "word_embeddings" in found["name"] else {None})


def test_each_road_carries_what_numpy_finds_with_all_other_roads_closed(answers):  # noqa: F811
    """Closed: on them comes what came before the number was moved. By the complex step, through npbert's own blocks."""
    found = answers["models"][0]["paths"][0]
    before, after = complex_model(), complex_model()
    after.bert.embeddings.position_embeddings.weight.value[found["row"], found["column"]] += 1j * TINY
    flows = {(road["from"], road["road"]): road["flow"] for road in found["roads"]}
    for number in range(2):
        ways = roads_of_layer(before, after, number)
        for key, flow in ways.items():
            stop, road = 2 * number + ("feed-forward" in key), key
            told = (
                sum(flows[stop, f"through {name}"] for name in "KV") if road == "through K and V" else flows[stop, road]
            )
            assert told == pytest.approx(flow, rel=1e-10, abs=1e-13), (number, key)


def complex_model():
    model = models.make_models()[0]
    for parameter in model.parameters():
        parameter.value = parameter.value.astype(complex)
    return model


def roads_of_layer(before, after, number):
    """By road, the slope of the loss when the moved number reaches this layer's additions on that road alone."""
    batch = models.EXAMPLES[EXAMPLE]
    ids, types = np.array(batch.input_ids), np.array(batch.token_type_ids)
    layers = before.bert.encoder.layers

    def entering(model):
        x = model.bert.embeddings.forward(ids, types, np.arange(len(ids)))
        for layer in layers[:number]:
            x = layer.forward(x, x)
        return x

    def slope(y):
        for layer in layers[number + 1 :]:
            y = layer.forward(y, y)
        labels = np.array(batch.labels)
        logits = before.predictions.forward(y[labels >= 0])
        right = np.take_along_axis(logits, labels[labels >= 0][:, None], axis=1)[:, 0]
        return np.mean(np.log(np.exp(logits).sum(axis=1)) - right).imag / TINY

    layer, old, new = layers[number], entering(before), entering(after)

    def second(h, into):
        return slope(layer.output_norm.forward(h + layer.feed_forward.forward(into)))

    def first(x, queries, others):
        h = layer.attention_norm.forward(x + layer.attention.forward(queries, others))
        return second(h, h)

    def h_of(x):
        return layer.attention_norm.forward(x + layer.attention.forward(x, x))

    return {
        "past attention": first(new, old, old),
        "through Q": first(old, new, old),
        "through K and V": first(old, old, new),
        "past feed-forward": second(h_of(new), h_of(old)),
        "through feed-forward": second(h_of(old), h_of(new)),
    }


@pytest.mark.parametrize("model", MODELS)
def test_the_size_of_a_road_is_the_norm_of_what_comes_back_on_it(answers, model):  # noqa: F811
    arrays, told = arrays_of(answers, model), answers["models"][model]["roads"]
    layer = "bert.encoder.layers.0"
    norm = f"{layer}.attention_norm"
    dxhat, xhat, sigma = arrays[f"d({norm}.xHat)"], arrays[f"{norm}.xHat"], arrays[f"{norm}.sigma"]
    p, dp = arrays[f"{layer}.P.0"], arrays[f"d({layer}.P.0)"]
    attention = ("past attention", "through Q", "through K", "through V")
    wanted = {
        f"d({layer}.x)": {road: arrays[f"d({layer}.x) {road}"] for road in attention},
        f"d({layer}.attention.s)": {
            "directly": dxhat / sigma,
            "through the mean μ": dxhat.mean(axis=1, keepdims=True) / sigma * np.ones_like(xhat),
            "through the spread σ": xhat * (dxhat * xhat).mean(axis=1, keepdims=True) / sigma,
        },
        f"d({layer}.S.0)": {
            "its own share grows": p * dp,
            "all shares of the row shrink": p * (p * dp).sum(axis=1, keepdims=True),
        },
        "d(bert.embeddings.word_embeddings.weight)": {
            "as an answer": arrays["d(logits)"].T @ arrays["predictions.z"],
            "as it comes in": looked_up(arrays["d(bert.embeddings.word)"]),
        },
    }
    for name, roads in wanted.items():
        found = {road["road"]: road["size"] for road in told[name]}
        assert found == {road: pytest.approx(np.linalg.norm(back), rel=1e-12) for road, back in roads.items()}, name
    assert told[f"d({layer}.Q)"] == told["d(logits)"] == [], "one road is no choice"


def looked_up(dword):
    table = np.zeros((len(models.VOCABULARY), dword.shape[1]))
    np.add.at(table, models.EXAMPLES[EXAMPLE].input_ids, dword)
    return table
