"""What a folder holds is said in words, and not as a list of tensors."""

import json

import pytest

import npbert
from npbert.inference import check_holds
from npbert.io.files import FileError
from tests.inference.checkpoints import write_checkpoint

USES = {
    "Classify": ("BertForSequenceClassification", "a text classifier"),
    "Tag": ("BertForTokenClassification", "a tagger"),
    "Answer": ("BertForQuestionAnswering", "a question-answering model"),
    "FillMask": ("BertForMaskedLM", "a model with a masked-LM head"),
}
FINETUNE, PRETRAIN = "npbert finetune makes one from it", "npbert pretrain makes one from it"
USE = "to use it: npbert {}, or npbert.{} in Python"
HELD = {  # by the class: its labels, what it is called, and for how it is used
    "BertModel": (2, "a BERT without a head", None),
    "BertForPreTraining": (2, "a pre-trained BERT with a masked-LM head", None),
    "BertForMaskedLM": (2, "a model with a masked-LM head", None),
    "BertForSequenceClassification": (3, "a text classifier with 3 labels", USE.format("classify", "Classify")),
    "BertForTokenClassification": (9, "a tagger with 9 tags", USE.format("tag", "Tag")),
    "BertForQuestionAnswering": (2, "a question-answering model", USE.format("answer", "Answer")),
    "BertForMultipleChoice": (2, "a model for multiple choice", "to judge it: npbert evaluate --task multiple-choice"),
}


def change_config(folder, **changes):
    path = folder / "config.json"
    stored = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({name: value for name, value in stored.items() if value is not None}))


@pytest.mark.parametrize("held", HELD)
def test_every_use_of_every_model(tmp_path, held):
    """A use is refused with what the folder holds, and what makes of it what is wanted, or what it is for."""
    labels, called, use = HELD[held]
    folder = write_checkpoint(tmp_path, getattr(npbert, held), num_labels=labels)
    npbert.Embed.from_pretrained(folder)
    for task, (wanted, name) in USES.items():
        if wanted == held or (wanted, held) == ("BertForMaskedLM", "BertForPreTraining"):
            getattr(npbert, task).from_pretrained(folder)
            continue
        hint = use or (PRETRAIN if task == "FillMask" else FINETUNE)
        with pytest.raises(FileError) as error:
            getattr(npbert, task).from_pretrained(folder)
        assert str(error.value) == f"{folder} has {called}, wanted {name}; {hint}"


@pytest.mark.parametrize("held", list(HELD)[2:6])
@pytest.mark.parametrize("architectures", [None, [], ["BertModel"], ["BertForQuestionAnswering"], ["Own"]])
def test_without_a_word_in_the_configuration_the_tensors_say_it(tmp_path, held, architectures):
    """What a class name promises, and the file does not have, counts nothing. A file with a classifier and a pooler is
    also read as a tagger then: those of old versions of transformers have both."""
    labels, called, _ = HELD[held]
    folder = write_checkpoint(tmp_path, getattr(npbert, held), num_labels=labels)
    change_config(folder, architectures=architectures)
    for task, (wanted, _) in USES.items():
        if wanted == held or (held, wanted) == ("BertForSequenceClassification", "BertForTokenClassification"):
            getattr(npbert, task).from_pretrained(folder)
        else:
            with pytest.raises(FileError, match=f"has {called}, wanted "):
                getattr(npbert, task).from_pretrained(folder)


def test_a_regression_and_a_head_of_ones_own(tmp_path):
    folder = write_checkpoint(tmp_path / "regression", npbert.BertForSequenceClassification, num_labels=1)
    with pytest.raises(FileError, match="has a regression, wanted a tagger"):
        npbert.Tag.from_pretrained(folder)
    folder = write_checkpoint(tmp_path / "own", npbert.BertModel)
    change_config(folder, architectures=["TwoTowers"])
    with pytest.raises(FileError, match="has a model of the class TwoTowers, wanted a tagger"):
        npbert.Tag.from_pretrained(folder)
    check_holds(folder, "TwoTowers")
    check_holds(folder, "BertModel")
