"""`npbert learn check --watch` and `npbert learn demo`."""

import os
import sys
import time
from types import SimpleNamespace

import pytest

from npbert.cli import learn as command
from npbert.learn import RIGHT, Verdict, demo, judge_file
from npbert.learn.exercises import EXERCISES
from tests.learn.answering import answered, write
from tests.learn.right_answers import RIGHT as ANSWERS


def test_a_file_is_checked_whenever_it_is_saved(learn, tmp_path, in_this_process, monkeypatch):
    learn()
    saved, checked = [], []

    def check(exercise, path, at_once=None):
        checked.append(exercise.number)
        if len(checked) == 3:
            raise KeyboardInterrupt
        return judge_file(exercise, path)

    def look_away(_):
        """Between two looks, the next file is saved if all before it were checked."""
        time.sleep(0.01)
        if len(saved) == len(checked):
            saved.append((3, 2, 3)[len(saved)])
            write(saved[-1], tmp_path / "backprop")

    monkeypatch.setattr(command, "check", check)
    monkeypatch.setattr(command, "time", SimpleNamespace(sleep=look_away, strftime=time.strftime))
    status, out, _ = learn("check", "--watch")
    assert "each is checked when you save it" in out
    assert (status, out.partition(":")[0]) == (130, f"watching 15 files in backprop{os.sep}")
    assert checked == [3, 2, 3]


def test_one_file_is_checked_as_soon_as_it_is_watched(learn, tmp_path, in_this_process, monkeypatch):
    learn()

    def ended(chosen, seen):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_saved", ended)
    status, out, _ = learn("check", "3", "--watch")
    assert status == 130
    assert "it is checked now, and whenever you save it. Ctrl-C ends it\n\n03 GELU: not begun\n" in out


def test_in_a_terminal_it_is_said_what_is_looked_at(learn, monkeypatch):
    monkeypatch.setattr(command, "check", lambda exercise, path: Verdict(RIGHT))
    learn()
    assert learn("check")[2] == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    _, out, error = learn("check")
    assert error.startswith("01 the numerical derivative …\r") and error.endswith("\r")
    assert "…" not in out


def test_demo_trains_with_what_is_right(learn, tmp_path, in_this_process, monkeypatch):
    monkeypatch.setattr(demo, "STEPS", 20)
    monkeypatch.setattr(demo, "LINE_EVERY", 10)
    learn()
    status, out, _ = learn("demo")
    assert status == 1
    assert "there is nothing of yours to train" in out
    own = (2, 3, 5, 6, 7, 8, 9, 10, 12, 13)
    for number in own:
        write(number, tmp_path / "backprop")
    write(14, tmp_path / "backprop", changes=[("beta2) * g**2", "beta2) * g")])
    status, out, _ = learn("demo")
    assert status == 0
    said = " ".join(out.split())
    assert (
        "Yours in this BERT: Linear, GELU, SoftmaxCrossEntropy, Embedding, LayerNorm, Dropout, EncoderLayer, "
        "DotProductAttention, mask_words, clip_by_global_norm. All else" in said
    )
    assert out.count("step ") == 2
    assert "→" in out
    assert "A model that only guesses has loss 3.689." in out
    assert "Softmax is right" not in out
    for number in own[2:]:
        (tmp_path / "backprop" / EXERCISES[number].file_name).write_text(EXERCISES[number].source(), encoding="utf-8")
    for number, change in (
        (4, ("return p *", "print(p)\n        return p *")),
        (2, ("return dy @", "print(dy)\n        return dy @")),
    ):
        write(number, tmp_path / "backprop", changes=[change])
    out = learn("demo")[1]
    assert "(Softmax is right, too, but is no layer here: attention has one inside it.)" in " ".join(out.split())
    assert "[[" not in out
    assert out.endswith("\n\nWhat your code prints is left out here; npbert learn check shows it.\n")
    monkeypatch.setattr(demo, "SLOW", 0)
    assert "Whole arrays are quicker" in learn("demo")[1]


def test_demo_says_where_a_layer_stops(learn, tmp_path, in_this_process, monkeypatch):
    """What is right in the checks may still stop in a training: here, at more than 8 rows."""
    learn()
    body = ANSWERS[2][0]["backward"].replace(
        "self.weight.add_grad", "assert len(x) < 9\n            self.weight.add_grad"
    )
    (tmp_path / "backprop/02_linear.py").write_text(answered(2, {"backward": body}), encoding="utf-8")
    status, out, _ = learn("demo")
    assert status == 1
    assert "backprop/02_linear.py\n" in out.replace(os.sep, "/")
    assert "stops with AssertionError" in out
    assert "assert len(x) < 9" in out


def test_demo_computes_what_the_library_would(tmp_path):
    """The same losses, to the last digits, with all that a learner can write."""

    def losses(own):
        rng, said = demo.np.random.default_rng(0), []
        model = demo.make_model(demo.load_dialogue(9), rng)
        own.put_into(model)
        demo.train(model, own, rng, lambda line: said.append(line.split()[3]))
        return said

    files = [(EXERCISES[number], write(number, tmp_path)) for number in ANSWERS if number != 12]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "STEPS", 12)
        patch.setattr(demo, "LINE_EVERY", 4)
        assert losses(demo.Own(files)) == losses(demo.Own([]))
    assert [judge_file(exercise, path).status for exercise, path in files] == [RIGHT] * len(files)
