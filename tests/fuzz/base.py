"""What the cases start from: small right checkpoints, texts, tables and a finished run, made once for a process."""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import npbert
from npbert.training import Pretraining, PretrainSettings
from tests.fuzz.mutate import pick
from tests.inference.checkpoints import write_checkpoint, write_sentence_transformer

HEADS = {
    "fill-mask": (npbert.BertForMaskedLM, {}),
    "classify": (npbert.BertForSequenceClassification, {"num_labels": 2, "id2label": ("no", "yes")}),
    "regression": (npbert.BertForSequenceClassification, {"num_labels": 1}),
    "choice": (npbert.BertForMultipleChoice, {}),
    "tag": (npbert.BertForTokenClassification, {"num_labels": 3, "id2label": ("O", "B-X", "I-X")}),
    "answer": (npbert.BertForQuestionAnswering, {}),
    "pretraining": (npbert.BertForPreTraining, {}),
}
TEXTS = {
    "fill-mask": "the cat sat on the [MASK] .\na [MASK] ran\n",
    "embed": "the cat sat on the mat .\na dog ran\n",
    "classify": "the cat sat\nthe dog\tran on the road\n",
    "tag": "the cat sat\na dog ran on\n",
    "answer": '{"question": "who sat ?", "passage": "the cat sat on the mat ."}\n',
}
ASKED = [{"id": "1", "question": "who ran ?", "answers": [{"text": "a dog", "answer_start": 25}]}]
PASSAGE = {"context": "the cat sat on the mat . a dog ran", "qas": ASKED}
LABELLED = {
    "classify": ("no\tthe cat sat\nyes\ta dog ran .\nno\tcafé\n" * 3, "classification --text 1 --label 0"),
    "regression": ("0.5\tthe cat\ta dog\n3\ta\tmat\n" * 3, "regression --text 1 --text-pair 2 --label 0"),
    "choice": ("0\tthe cat\ta dog\tran on\n1\ta\tb\tc\n" * 2, "multiple-choice --text 1 --choices 2 3 --label 0"),
    "tag": ("the O\ncat B-X\nsat I-X\n\na O\ndog B-X\nran O\n", "tagging --text 0"),
    "answer": (json.dumps({"version": "1.1", "data": [{"title": "cats", "paragraphs": [PASSAGE]}]}), "squad --text 0"),
}
"""A labelled file for each head, and the task."""
HELD_OUT = "the mat sat on a road .\n\na cat ran on the dog .\n"
CORPUS = "\n".join(["the cat sat on the mat .", "a dog ran on the road .", "", "the cat ran .", "a dog sat ."] * 4)


class Base(NamedTuple):
    """checkpoints: a folder for each head. run: the folder of a finished run of pre-training. corpus: a file."""

    checkpoints: dict[str, Path]
    run: Path
    corpus: Path

    def copy(self, source, folder):
        """A copy of a folder that a case may spoil."""
        return Path(shutil.copytree(source, folder / source.name))

    def copy_of_one(self, rng, folder):
        """The name of one of the checkpoints, and a copy of it."""
        name = pick(rng, list(self.checkpoints))
        return name, self.copy(self.checkpoints[name], folder)


def make_base(folder):
    """Write everything into `folder`."""
    checkpoints = {"embed": write_sentence_transformer(folder / "embed", "mean", max_length=16)}
    for name, (model_class, changes) in HEADS.items():
        checkpoints[name] = write_checkpoint(folder / name, model_class, **changes)
    for checkpoint in checkpoints.values():
        npbert.Tokenizer.from_pretrained(checkpoint).save_pretrained(checkpoint, overwrite=True)
    corpus, held_out, run = folder / "corpus.txt", folder / "held-out.txt", folder / "run"
    corpus.write_text(CORPUS, encoding="utf-8")
    held_out.write_text(HELD_OUT, encoding="utf-8")
    paths = dict.fromkeys(("vocabulary", "model"), str(checkpoints["pretraining"]))
    paths |= {"corpus": (str(corpus),), "held_out": (str(held_out),)}
    sizes = {"steps": 4, "batch_size": 2, "max_length": 16, "held_out_batches": 1, "save_every": 2, "log_every": 1}
    Pretraining(PretrainSettings(**paths, **sizes), run).trainer.train()
    return Base(checkpoints, run, corpus)
