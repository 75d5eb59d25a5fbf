"""Forty steps of training, without dropout, are those of transformers and torch: the same losses, for every child."""

import numpy as np
import pytest

import npbert
from npbert import Adam, Batch, Tape
from tests.parity.test_transformers_models import IN_FLOAT32, OURS, inputs, targets, theirs, torch
from tests.parity.torch_comparison import as_torch
from tests.tables import one_in

pytestmark = pytest.mark.torch
STEPS = 40
FAMILIES = ["Roberta", "DistilBert", "Electra", "ModernBert", "Albert", "MPNet", "NomicBert"]
CASES = [("Electra", "ForPreTraining"), *((family, "ForMaskedLM") for family in FAMILIES)]


@pytest.mark.parametrize(("family", "head"), one_in(4, CASES))
def test_forty_steps_are_theirs(family, head, tmp_path):
    original, name = theirs(family, head)
    original.save_pretrained(tmp_path)
    model = getattr(npbert, OURS[head]).from_pretrained(tmp_path, dtype="float64")
    arrays = inputs(family, head, original.config.pad_token_id or 0)
    arrays |= targets(family, head, arrays["input_ids"], {}, "float64")
    batch, tensors = Batch(**arrays), as_torch(arrays)
    ours, torchs = Adam(model.parameters(), lr=1e-2), torch.optim.Adam(original.parameters(), lr=1e-2)
    losses = []
    for _ in range(STEPS):
        model.zero_grad()
        torchs.zero_grad()
        tape, loss = Tape(), original(**tensors).loss
        losses.append((model.loss(batch, tape).loss, loss.item()))
        model.loss_backward(1.0, tape)
        loss.backward()
        ours.step()
        torchs.step()
    found, wanted = np.array(losses).T
    assert wanted[-1] < 0.8 * wanted[0], "it learns"
    in_float32 = name in IN_FLOAT32 or (name, head) == ("Electra", "ForPreTraining")
    np.testing.assert_allclose(found, wanted, rtol=0, atol=(1e-6 if in_float32 else 1e-10) * wanted[0])
