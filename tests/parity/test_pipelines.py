"""Models that the commands have trained, as transformers uses them: the same folders, the same answers, row by row."""

import json
from pathlib import Path

import numpy as np
import pytest

from npbert.cli import main
from tests.later import later
from tests.parity import torch
from tests.training.tiny import ADJECTIVES, NOUNS, sentence, write_checkpoint, write_labelled

transformers = later("transformers", "transformers")

pytestmark = pytest.mark.torch

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
        texts = [sentence(rng) for _ in range(60)]
        Path("texts.txt").write_text("\n".join([*texts, "", LONG, "Thé  unknown-COW."]) + "\n", encoding="utf-8")
        Path("pairs.tsv").write_text(f"{texts[0]}\t{texts[1]}\n{LONG}\t{texts[2]}\n", encoding="utf-8")
        yield


def command(*arguments):
    assert main(list(map(str, arguments))) == 0


def rows_of(name, *options):
    """The rows that a command writes about the texts, by the folder of the run."""
    command(*options, "--output", name)
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def pipeline(task, folder, **options):
    pipe = transformers.pipeline(task, model=folder, device="cpu", **options)
    assert pipe.tokenizer.model_max_length == LENGTH
    return pipe


@pytest.mark.filterwarnings("ignore:.* texts? (are|is) longer than the 20 tokens")
def test_text_classification():
    write_labelled(Path("labelled.tsv"), rows=200)
    command("finetune", "classifier", *TRAIN, "--train", "labelled.tsv", "--epochs", 8, "--learning-rate", 0.005)
    rows = rows_of("labels.jsonl", "classify", "classifier", "texts.txt")
    wanted = pipeline("text-classification", "classifier/model")([row["text"] for row in rows], truncation=True)
    assert [row["label"] for row in rows] == [row["label"] for row in wanted]
    assert {row["label"] for row in rows} == {"yes", "no"}
    assert [row["score"] for row in rows] == pytest.approx([row["score"] for row in wanted], rel=1e-5)


@pytest.mark.filterwarnings("ignore:.* texts? (are|is) longer than the 20 tokens")
def test_a_regression_of_pairs():
    rng = np.random.default_rng(1)
    pairs = [(sentence(rng), sentence(rng)) for _ in range(100)]
    scores = [len(set(first.split()) & set(second.split())) for first, second in pairs]
    lines = [f"{first}\t{second}\t{score}" for (first, second), score in zip(pairs, scores, strict=True)]
    Path("scores.tsv").write_text("\n".join(["one\ttwo\tscore", *lines]) + "\n", encoding="utf-8")
    columns = ["--text", "one", "--text-pair", "two", "--label", "score"]
    command("finetune", "regression", *TRAIN, "--task", "sts", "--train", "scores.tsv", *columns)
    rows = rows_of("numbers.jsonl", "classify", "regression", "pairs.tsv", "--text", 0, "--text-pair", 1)
    pipe = pipeline("text-classification", "regression/model")
    wanted = [pipe({"text": row["text"][0], "text_pair": row["text"][1]}, truncation=True) for row in rows]
    assert [row["score"] for row in rows] == pytest.approx([row["score"] for row in wanted], rel=1e-5)
    assert max(row["score"] for row in rows) > 1, "it is no probability"


@pytest.mark.filterwarnings("ignore:.* texts? (are|is) longer than the 20 tokens")
def test_token_classification():
    rng, tag_of = np.random.default_rng(2), {**dict.fromkeys(NOUNS, "I-X"), **dict.fromkeys(ADJECTIVES, "B-X")}
    words = [sentence(rng).split() for _ in range(150)]
    lines = ["\n".join(f"{word} {tag_of.get(word, 'O')}" for word in row) for row in words]
    Path("train.conll").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    command("finetune", "tagger", *TRAIN, "--task", "ner", "--train", "train.conll", "--epochs", 6)
    rows = rows_of("tags.jsonl", "tag", "tagger", "texts.txt")
    rows = [row for row in rows if row["text"]]
    assert [row.get("words_cut_off", 0) > 0 for row in rows].count(True) == 1
    texts = [row["text"] for row in rows]
    by_token = pipeline("token-classification", "tagger/model", aggregation_strategy="none", ignore_labels=[])
    by_entity = pipeline("token-classification", "tagger/model", aggregation_strategy="first")
    for row, tokens, entities in zip(rows, by_token(texts), by_entity(texts), strict=True):
        token_at = {token["start"]: token for token in tokens}
        wanted = [token_at[word["start"]] for word in row["words"]]
        assert [word["tag"] for word in row["words"]] == [token["entity"] for token in wanted]
        assert [word["score"] for word in row["words"]] == pytest.approx([token["score"] for token in wanted], rel=1e-5)
        places = [(entity["entity_group"], entity["start"], entity["end"]) for entity in entities]
        assert [(entity["type"], entity["start"], entity["end"]) for entity in row["entities"]] == places
        scores = [entity["score"] for entity in entities]
        assert [entity["score"] for entity in row["entities"]] == pytest.approx(scores, rel=1e-5)
    assert sum(len(row["entities"]) for row in rows) > 60


def test_question_answering():
    """transformers has no pipeline for it any more: its model and tokenizer, and the best span by its logits."""
    rng = np.random.default_rng(3)
    questions = []
    for number in range(60):
        context = sentence(rng)
        answer = " ".join(context.split()[1:3])
        place = {"text": answer, "answer_start": context.index(answer)}
        questions.append({"context": context, "qas": [{"id": str(number), "question": "what", "answers": [place]}]})
    Path("squad.json").write_text(json.dumps({"data": [{"paragraphs": questions}]}), encoding="utf-8")
    command("finetune", "answers", *TRAIN, "--task", "qa", "--train", "squad.json")
    rows = rows_of("answers.jsonl", "answer", "answers", "squad.json")
    model = transformers.AutoModelForQuestionAnswering.from_pretrained("answers/model").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained("answers/model")
    for row, question in zip(rows, questions, strict=True):
        inputs = tokenizer("what", question["context"], return_tensors="pt", return_offsets_mapping=True)
        inside = np.array([part == 1 for part in inputs.sequence_ids(0)])
        offsets = inputs.pop("offset_mapping")[0].tolist()
        with torch.no_grad():
            output = model(**inputs)
        starts, ends = output.start_logits[0].double().numpy(), output.end_logits[0].double().numpy()
        scores = np.where(np.triu(np.outer(inside, inside)), starts[:, None] + ends, -np.inf)
        first, last = np.unravel_index(scores.argmax(), scores.shape)
        (answer,) = row["answers"]
        assert (answer["start"], answer["end"]) == (offsets[first][0], offsets[last][1])
        assert answer["score"] == pytest.approx(np.exp(scores.max() - np.logaddexp.reduce(scores.ravel())), rel=1e-4)
