"""Files that torch reads and writes: of a head of one's own, which a torch module with the same attributes loads; and a
pytorch_model.bin, which the command that npbert gives for it converts.
"""

import re
import shlex

import numpy as np
import pytest

from npbert import BertForPreTraining
from npbert.io.files import FileError
from npbert.models.hugging_face.checkpoint import hugging_face_tensors
from tests.later import later
from tests.models.hugging_face.checkpoints import assert_loads, random_float32, write_checkpoint
from tests.models.own import Score
from tests.models.small import fixed_batch, random_model
from tests.parity import torch

transformers = later("transformers", "transformers")
safetensors = later("safetensors.torch", "-e '.[hf]'")

pytestmark = pytest.mark.torch


def torch_score(bert):
    """Score, attribute by attribute, as one would write it in torch."""
    nn = torch.nn

    class TorchScore(nn.Module):
        def __init__(self, bert):
            super().__init__()
            self.bert = bert
            self.norm = nn.LayerNorm(6, eps=0.01)
            scale, out = (
                nn.ParameterDict({"gamma": nn.Parameter(torch.zeros(6))}),
                nn.ModuleList([nn.Linear(6, 1)]),
            )
            self.steps = nn.ModuleDict({"scale": scale, "out": out})
            self.temperature = nn.Parameter(torch.zeros(()))
            self.offsets = nn.Embedding(3, 1)
            self.noise = nn.Parameter(torch.zeros(1, 1))

        def forward(self, input_ids, token_type_ids, attention_mask):
            h = self.bert(input_ids, attention_mask, token_type_ids).last_hidden_state[:, 0]
            s = self.steps["out"][0](self.norm(h) * self.steps["scale"]["gamma"])
            return s * self.temperature * self.noise + self.offsets(token_type_ids[:, 0])

    return TorchScore(bert)


@pytest.mark.thorough
def test_torch_loads_it_and_computes_the_same(tmp_path):
    ours, batch = random_model(Score), fixed_batch()
    ours.save_pretrained(tmp_path)
    config = transformers.BertConfig.from_pretrained(tmp_path)
    theirs = torch_score(transformers.BertModel(config, add_pooling_layer=False)).double().eval()
    theirs.load_state_dict(safetensors.load_file(tmp_path / "model.safetensors"), strict=True)
    with torch.no_grad():
        wanted = theirs(*map(torch.tensor, (batch.input_ids, batch.token_type_ids, batch.attention_mask)))
    np.testing.assert_allclose(ours(batch), wanted.numpy(), rtol=1e-12)

    safetensors.save_file({name: tensor.contiguous() for name, tensor in theirs.state_dict().items()}, tmp_path / "new")
    (tmp_path / "new").replace(tmp_path / "model.safetensors")
    assert_loads(ours, tmp_path, dtype=np.float64)


def test_the_command_in_the_error_converts_the_file(tmp_path, monkeypatch):
    """It is run here, after its words are taken apart as a shell does it: a new process would import torch again."""
    folder = tmp_path / "with spaces, $(a command) and 'quotes'"
    folder.mkdir()
    model = random_float32(BertForPreTraining)
    write_checkpoint(folder, model)
    (folder / "model.safetensors").unlink()

    state = {name: torch.tensor(np.ascontiguousarray(tensor)) for name, tensor in hugging_face_tensors(model).items()}
    state["cls.predictions.decoder.weight"] = state["bert.embeddings.word_embeddings.weight"]  # one memory, two names
    state["cls.predictions.transform.dense.weight"] = state["cls.predictions.transform.dense.weight"].T.contiguous().T
    state["bert.embeddings.position_ids"] = torch.arange(5)[None]
    torch.save(state, folder / "pytorch_model.bin")

    with pytest.raises(FileError) as caught:
        BertForPreTraining.from_pretrained(folder)
    command = re.search(r"python (-c .*)$", str(caught.value))[1]
    option, code, *paths = shlex.split(command)
    assert option == "-c" and "$" not in code
    monkeypatch.setattr("sys.argv", ["-c", *paths])
    exec(code, {})
    assert_loads(model, folder)
