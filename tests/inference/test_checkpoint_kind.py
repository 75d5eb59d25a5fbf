"""What a folder holds is said in words, and not as a list of tensors."""

import json

import pytest

import npbert
from npbert.io.files import FileError
from tests.inference.checkpoints import write_checkpoint

USES = {
    "Classify": ("BertForSequenceClassification", "a text classifier"),
    "Tag": ("BertForTokenClassification", "a tagger"),
    "Answer": ("BertForQuestionAnswering", "a question-answering model"),
    "FillMask": ("BertForMaskedLM", "a pre-trained BERT with a masked-LM head"),
}
FINETUNE = "; npbert finetune makes one from it"
HELD = {
    **{name: (called, "") for name, called in USES.values()},
    "BertForMultipleChoice": ("a model for multiple choice", ""),
    "BertModel": ("a BERT without a head", FINETUNE),
    "BertForPreTraining": ("a pre-trained BERT with a masked-LM head", FINETUNE),
    "BertForMaskedLM": ("a pre-trained BERT with a masked-LM head", FINETUNE),
}


@pytest.mark.parametrize("held", HELD)
def test_every_use_of_every_model(tmp_path, held):
    """A use is refused with what the folder holds, and what makes of it what is wanted."""
    called, hint = HELD[held]
    folder = write_checkpoint(tmp_path, getattr(npbert, held))
    npbert.Embed.from_pretrained(folder)
    for task, (wanted, name) in USES.items():
        if wanted == held or (wanted, held) == ("BertForMaskedLM", "BertForPreTraining"):
            getattr(npbert, task).from_pretrained(folder)
        else:
            with pytest.raises(FileError) as error:
                getattr(npbert, task).from_pretrained(folder)
            assert str(error.value) == f"{folder} has {called}, wanted {name}{hint}"


@pytest.mark.parametrize("architectures", [[], ["TwoTowers"]])
def test_without_a_known_class_in_the_configuration_the_tensors_decide(tmp_path, architectures):
    folder = write_checkpoint(tmp_path, npbert.BertForTokenClassification)
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "architectures": architectures}))
    npbert.Tag.from_pretrained(folder)
    with pytest.raises(FileError, match="does not fit BertForQuestionAnswering:\n  missing: qa_outputs"):
        npbert.Answer.from_pretrained(folder)
