"""Training in the page, step 87 and all: m, v, the clipping and the new weights are those of npbert's own AdamW."""

import math
from functools import partial

import numpy as np
import pytest

from npbert import AdamW, Parameter
from npbert.optim import clip_factor, global_norm
from tests.pages import models
from tests.pages.test_number_arithmetic import (
    BATCH,
    MODELS,
    MOST,
    OPTIMIZER,
    answers,  # noqa: F401
)


def test_training_in_the_page_is_that_of_npbert(answers):  # noqa: F811
    for model, most, answer in zip(models.make_models(), MOST, answers["models"], strict=True):
        trained = [
            parameter
            for name, parameter in model.named_parameters()
            if not name.startswith(("bert.pooler", "seq_relationship"))
        ]
        optimizer = AdamW(trained, **OPTIMIZER)
        for found in (update["made"] for update in answer["updates"]):
            loss, _ = models.loss_and_gradients(model, BATCH)
            norm = math.sqrt(sum(np.sum(parameter.grad**2) for parameter in trained))
            assert found == {"loss": pytest.approx(loss, rel=1e-9), "gradientNorm": pytest.approx(norm, rel=1e-9)}
            optimizer.step(clip_factor(norm, most))
        for name, parameter in model.named_parameters():
            if any(parameter is one for one in trained) and not name.endswith("key.bias"):  # whose gradient is rounding
                np.testing.assert_allclose(answer["trained"][name], parameter.value.ravel(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_the_update_is_that_of_npbert_and_every_number_of_it_is_its_sum(answers, model):  # noqa: F811
    """Given the page's own gradients, so that it is the optimizer alone that is compared."""
    updates = answers["models"][model]["updates"]
    named = dict(models.make_models()[model].named_parameters())
    shown = {name: Parameter(w.value) for name, w in named.items() if f"g({name})" in updates[0]["arrays"]}
    optimizer = AdamW(shown.values(), **OPTIMIZER)
    beta1, beta2 = OPTIMIZER["betas"]
    for t, update in enumerate(updates, 1):
        same = partial(assert_update, update["arrays"])
        assert update["isIt"] and update["losses"] == [update["made"]["loss"], update["after"]]
        for name, w in shown.items():
            w.zero_grad()
            w.add_grad(np.reshape(update["arrays"][f"g({name})"], w.value.shape))
        clip = clip_factor(norm := global_norm(shown.values()), MOST[model])
        assert model == 2 or (clip < 1) == (model == 0)
        same("norm", norm)
        same("clip", clip)
        for name, w, m, v in zip(shown, shown.values(), *optimizer.moments().values(), strict=True):
            same(f"m_before({name})", m)
            same(f"v_before({name})", v)
            same(f"decay({name})", (optimizer.kept(w) - 1) * w.value)
            assert (optimizer.kept(w) == 1) == (w.value.ndim == 1)
        optimizer.step(clip)
        for name, w, m, v in zip(shown, shown.values(), *optimizer.moments().values(), strict=True):
            wanted = {"m": m, "v": v, "m_hat": m / (1 - beta1**t), "v_hat": v / (1 - beta2**t), "new": w.value}
            for key, value in wanted.items():
                same(f"{key}({name})", value)
    for sums in (updates[0]["sums"], updates[-1]["sums"]):
        assert sums["wrong"] == [] and sums["count"] > 4000
    assert updates[1]["sums"]["wrong"] == []


def assert_update(arrays, name, wanted):
    found, wanted = np.array(arrays[name]), np.ravel(wanted)
    assert np.abs(found - wanted).max() <= 1e-12 * np.abs(wanted).max(), name


def test_fresh_parameters_start_as_init_says(answers):  # noqa: F811
    fresh = answers["fresh"]
    assert fresh["one"] == fresh["again"] != fresh["another"]
    drawn = np.concatenate([values for name, values in fresh["one"].items() if name.endswith("weight")])
    assert drawn.std() == pytest.approx(0.4, rel=0.1)
    assert abs(drawn.mean()) < 0.05
    for name, values in fresh["one"].items():
        if not name.endswith("weight"):
            assert set(values) == {1.0 if name.endswith("gamma") else 0.0}
