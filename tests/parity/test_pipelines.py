"""Folders that the commands have trained, as transformers reads and runs them: the same answers, row by row."""

import json
from pathlib import Path

import numpy as np
import pytest

from npbert.cli import main
from tests.later import later
from tests.parity import torch
from tests.training.tiny import ADJECTIVES, NOUNS, sentence, write_checkpoint, write_labelled

transformers = later("transformers", "transformers")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.* texts? (are|is) longer than the 20 tokens")]

LENGTH = 20
TRAIN = f"--model checkpoint --max-length {LENGTH} --batch-size 8 --learning-rate 0.02 --evaluate-every 0".split()
LONG = "the good cow sees a playful , unknown cat . " * 4


@pytest.fixture(scope="module", autouse=True)
def here(tmp_path_factory):
    """The folders of finished runs, and texts that are longer than what the models were trained on, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("runs"))
        write_checkpoint(Path("checkpoint"))
        rng = np.random.default_rng(7)
        texts = [sentence(rng) for _ in range(20)]
        Path("texts.txt").write_text("\n".join([*texts, "", LONG, "Thé  unknown-COW."]) + "\n", encoding="utf-8")
        Path("pairs.tsv").write_text(f"{texts[0]}\t{texts[1]}\n{LONG}\t{texts[2]}\n", encoding="utf-8")
        yield


def command(*arguments):
    assert main(list(map(str, arguments))) == 0


def rows_of(name, *options):
    """The rows that a command writes about the texts, by the folder of the run."""
    command(*options, "--output", name)
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def theirs(kind, folder):
    """What their model gives for a text, or a pair: the tokens, and the logits (T, …) of its only sequence."""
    model = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(f"{folder}/model").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(f"{folder}/model")
    assert tokenizer.model_max_length == LENGTH

    def run(*texts):
        tokens = tokenizer(*texts, truncation=True, return_tensors="pt")
        with torch.no_grad():
            output = model(**tokens)
        return tokens, [part[0].double().numpy() for part in output.values()]

    return model.config, run


def softmax(scores):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))


def test_text_classification():
    write_labelled(Path("labelled.tsv"), rows=200)
    command("finetune", "classifier", *TRAIN, "--train", "labelled.tsv", "--epochs", 4, "--learning-rate", 0.005)
    config, run = theirs("SequenceClassification", "classifier")
    for row in rows_of("labels.jsonl", "classify", "classifier", "texts.txt"):
        p = softmax(run(row["text"])[1][0])
        assert (row["label"], row["score"]) == (config.id2label[int(p.argmax())], pytest.approx(p.max(), rel=1e-5))


def test_token_classification():
    rng, tag_of = np.random.default_rng(2), {**dict.fromkeys(NOUNS, "I-X"), **dict.fromkeys(ADJECTIVES, "B-X")}
    words = [sentence(rng).split() for _ in range(100)]
    lines = ["\n".join(f"{word} {tag_of.get(word, 'O')}" for word in row) for row in words]
    Path("train.conll").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    command("finetune", "tagger", *TRAIN, "--task", "ner", "--train", "train.conll", "--epochs", 3)
    config, run = theirs("TokenClassification", "tagger")
    cut = 0
    for row in filter(lambda row: row["text"], rows_of("tags.jsonl", "tag", "tagger", "texts.txt")):
        tokens, (logits,) = run(row["text"])
        cut += row.get("words_cut_off", 0) > 0
        for word in row["words"]:
            p = softmax(logits[tokens.char_to_token(word["start"])])
            assert (word["tag"], word["score"]) == (config.id2label[int(p.argmax())], pytest.approx(p.max(), rel=1e-5))
    assert cut == 1
