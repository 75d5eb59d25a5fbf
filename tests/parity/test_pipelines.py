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
        patch.setattr("npbert.training.session.draw_curves", lambda *_: None)
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


def test_a_regression_of_pairs():
    rng = np.random.default_rng(1)
    pairs = [(sentence(rng), sentence(rng)) for _ in range(100)]
    lines = [f"{first}\t{second}\t{len(set(first.split()) & set(second.split()))}" for first, second in pairs]
    Path("scores.tsv").write_text("\n".join(["one\ttwo\tscore", *lines]) + "\n", encoding="utf-8")
    columns = ["--text", "one", "--text-pair", "two", "--label", "score"]
    command("finetune", "regression", *TRAIN, "--task", "sts", "--train", "scores.tsv", *columns)
    config, run = theirs("SequenceClassification", "regression")
    assert config.problem_type == "regression", "else their pipeline would make a probability of the number"
    for row in rows_of("numbers.jsonl", "classify", "regression", "pairs.tsv", "--text", 0, "--text-pair", 1):
        assert row["score"] == pytest.approx(run(*row["text"])[1][0].item(), rel=1e-5)


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


def test_question_answering():
    rng = np.random.default_rng(3)
    questions = []
    for number in range(40):
        context = sentence(rng)
        answer = " ".join(context.split()[1:3])
        place = {"text": answer, "answer_start": context.index(answer)}
        questions.append({"context": context, "qas": [{"id": str(number), "question": "what", "answers": [place]}]})
    Path("squad.json").write_text(json.dumps({"data": [{"paragraphs": questions}]}), encoding="utf-8")
    command("finetune", "answers", *TRAIN, "--task", "qa", "--train", "squad.json")
    _, run = theirs("QuestionAnswering", "answers")
    for row, question in zip(rows_of("found.jsonl", "answer", "answers", "squad.json"), questions, strict=True):
        tokens, (starts, ends) = run("what", question["context"])
        inside = np.array([part == 1 for part in tokens.sequence_ids(0)])
        scores = np.where(np.triu(np.outer(inside, inside)), starts[:, None] + ends, -np.inf)
        first, last = np.unravel_index(scores.argmax(), scores.shape)
        (answer,) = row["answers"]
        assert (answer["start"], answer["end"]) == (tokens.token_to_chars(first)[0], tokens.token_to_chars(last)[1])
        assert answer["score"] == pytest.approx(softmax(scores.ravel()).max(), rel=1e-4)
