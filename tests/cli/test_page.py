"""npbert page: what it writes, and the one line that says what is wrong."""

import json
import re

import numpy as np
import pytest

from npbert import BertForMaskedLM


@pytest.fixture
def folder(checkpoints):
    return checkpoints["fill-mask"]


def data_of(path):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    return json.loads(found[1])


def test_a_page_is_written(npbert, folder, tmp_path):
    path = tmp_path / "page.html"
    said = f"{path} is written; open it in a browser\n".encode()
    assert npbert("page", folder, "the [MASK] sat", "--output", path, "-q") == (0, b"", "")
    assert npbert("page", folder, "the [MASK] sat", "a [MASK] [MASK]", "--output", path) == (0, said, "")
    data = data_of(path)
    assert [example["text"] for example in data["examples"]] == ["the [MASK] sat", "a [MASK] [MASK]"]
    model = BertForMaskedLM.from_pretrained(folder)
    stored = np.array(data["parameters"]["predictions.dense.weight"]["values"])
    np.testing.assert_array_equal(stored, model.predictions.dense.weight.value.ravel())


def test_the_answer_is_the_best_guess_unless_it_is_given(npbert, folder, tmp_path):
    path, texts = tmp_path / "page.html", ("the [MASK] sat", "a [MASK] [MASK]")
    guesses = npbert("fill-mask", folder, "--top-k", 1, stdin="\n".join(texts).encode()).rows
    best = [mask[0]["token"] for row in guesses for mask in row["masks"]]
    for options, wanted in (([], best), (["--answer", "cat", "dog", "ran"], ["cat", "dog", "ran"])):
        npbert("page", folder, *texts, "--output", path, *options)
        data = data_of(path)
        right = [label for example in data["examples"] for label in example["labels"] if label != -100]
        assert [data["vocabulary"][label] for label in right] == wanted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["the cat sat"], "text 1 has no [MASK], or it was cut off: 'the cat sat'"),
        (["the [mask] sat"], "text 1 has no [MASK] (in capitals: [MASK]), or it was cut off: 'the [mask] sat'"),
        (["the [MASK] sat", "--answer", "zebra"], "the answer 'zebra' is not a token of the model's vocabulary"),
        (["the [MASK] sat", "--answer", "cats"],
         "the answer 'cats' is not a token of the model's vocabulary; did you mean cat?"),
        (["the [MASK] sat", "--answer", "cat", "dog"], "2 answers for 1 [MASK]: wanted one for each, or none"),
        (["[MASK] [MASK]", "--answer", "cat"], "1 answer for 2 [MASK]: wanted one for each, or none"),
        (["the [MASK] " + "sat " * 13], "'the [MASK] sat sat sat sat sat sat sat sat sat sat sat sat s' has 17 tokens, "
         "wanted at most 16"),
    ],
)  # fmt: skip
def test_a_line_or_an_answer_that_does_not_fit(npbert, folder, tmp_path, arguments, message):
    path = tmp_path / "page.html"
    assert npbert("page", folder, *arguments, "--output", path).error == message
    assert not path.exists()


def test_a_model_that_does_not_fit(npbert, checkpoints, tmp_path):
    from tests.inference.checkpoints import write_checkpoint

    path, missing = tmp_path / "page.html", tmp_path / "missing" / "page.html"
    for folder, output, message in (
        (
            write_checkpoint(tmp_path / "large", BertForMaskedLM, hidden_size=64),
            path,
            "hidden_size is 64, too large for",
        ),
        (checkpoints["classify"], path, "masked"),
        (tmp_path / "no model", missing, f"{missing}: "),  # before any model is looked for
    ):
        assert message in npbert("page", folder, "the [MASK] sat", "--output", output).error
    assert not path.exists()


def test_text_shows_as_text(npbert, tmp_path):
    from tests.inference.checkpoints import WORDS, write_checkpoint, write_vocabulary

    folder = write_checkpoint(tmp_path / "hostile", BertForMaskedLM, vocab_size=len(WORDS) + 1)
    write_vocabulary(folder, [*WORDS, "</script><script>alert(1)</script>"])
    path = tmp_path / "page.html"
    assert npbert("page", folder, "the [MASK] sat", "--output", path).status == 0
    assert "alert(1)</script>" not in path.read_text(encoding="utf-8")
    assert data_of(path)["vocabulary"][-1] == "</script><script>alert(1)</script>"
