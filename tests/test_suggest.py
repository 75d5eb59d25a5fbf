"""What a misspelt name was meant to be."""

import pytest

from npbert.messages import closest, did_you_mean
from npbert.models import PRESETS

OPTIONS = ["--learning-rate", "--batch-size", "--epochs", "--max-length", "--held-out", "--mask-probability"]
COMMANDS = ["fill-mask", "embed", "classify", "finetune", "pretrain", "evaluate", "vocab"]


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("--lr", OPTIONS, "--learning-rate"),
        ("-bs", OPTIONS, "--batch-size"),
        ("--batchsize", OPTIONS, "--batch-size"),
        ("--epoch", OPTIONS, "--epochs"),
        ("--num-train-epochs", OPTIONS, "--epochs"),
        ("--Max_Length", OPTIONS, "--max-length"),
        ("--dev", OPTIONS, "--held-out"),
        ("--mask", OPTIONS, "--mask-probability"),
        ("--port", OPTIONS, None),
        ("learning-rate", ["learning_rate"], "learning_rate"),
        ("finetun", COMMANDS, "finetune"),
        ("fine-tune", COMMANDS, "finetune"),
        ("train", COMMANDS, "finetune"),
        ("test", COMMANDS, "evaluate"),
        ("tokenizer", COMMANDS, "vocab"),
        ("bert-smol", PRESETS, "bert-small"),
        ("BERT_Tiny", PRESETS, "bert-tiny"),
        ("gpt", PRESETS, None),
        ("", OPTIONS, None),
    ],
)
def test_the_closest_name(name, known, meant):
    assert closest(name, known) == meant
    assert did_you_mean(name, known) == (f"; did you mean {meant}?" if meant else "")
