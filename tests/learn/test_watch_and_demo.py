"""`npbert learn check --watch` and `npbert learn demo`."""

import os
import time
from types import SimpleNamespace

from npbert.cli import learn as learn_command
from npbert.learn import demo, judge_file
from npbert.learn.exercises import EXERCISES
from tests.learn.answers import write


def test_a_file_is_checked_whenever_it_is_saved(learn, folder, monkeypatch):
    saved, checked = [], []

    def check(exercise, path):
        checked.append(exercise.number)
        if len(checked) == 3:
            raise KeyboardInterrupt
        return judge_file(exercise, path)

    def look_away(_):
        """Between two looks, the next file is saved if all before it were checked."""
        time.sleep(0.01)
        if len(saved) == len(checked):
            saved.append((3, 2, 3)[len(saved)])
            write(saved[-1], folder)

    monkeypatch.setattr(learn_command, "check", check)
    monkeypatch.setattr(learn_command, "time", SimpleNamespace(sleep=look_away, strftime=time.strftime))
    status, out, _ = learn("check --watch")
    assert "Each is checked when you save it" in out
    assert (status, out.partition(". ")[0]) == (130, f"Watching {len(EXERCISES)} files in backprop{os.sep}")
    assert checked == [3, 2, 3]


def test_demo_trains_with_what_is_right(learn, folder, monkeypatch):
    monkeypatch.setattr(demo, "STEPS", 8)
    monkeypatch.setattr(demo, "LINE_EVERY", 4)
    status, out, _ = learn("demo")
    assert status == 1
    assert "None of your layers is right yet" in out
    for number in (3, 13):
        write(number, folder)
    write(2, folder, ("return dx", "print(dx)\n        return dx"))
    write(14, folder, ("parameter.value -=", "parameter.value = parameter.value -"))
    status, out, _ = learn("demo")
    assert status == 0
    assert "BERT: Linear, GELU, clip_by_global_norm. The others" in " ".join(out.split())
    assert out.count("step ") == 2 and "were guessed" in out and "Random guessing has loss 3.689." in out
    assert "[[" not in out and out.endswith(
        "\nThe output of your code is not shown here. See it with npbert learn check.\n"
    )


def test_demo_says_where_a_layer_stops(learn, folder):
    """What is right in the checks may still stop in a training: here, at more than 8 rows."""
    write(2, folder, ("        dW =", "        assert len(x) < 9\n        dW ="))
    write(3, folder)
    status, out, _ = learn("demo")
    assert status == 1 and "stops with AssertionError" in out and "assert len(x) < 9" in out
    assert "backprop/02_linear.py stops with" in " ".join(out.replace(os.sep, "/").split())


def test_demo_computes_what_the_library_would(tmp_path, monkeypatch):
    """The same losses, to the last digits, with all that a learner can write."""

    def losses(own):
        rng, said = demo.np.random.default_rng(0), []
        model = demo.make_model(rng)
        demo.put_into(model, own)
        demo.train(model, own, rng, lambda line: said.append(line.split()[3]), steps=6)
        return said

    files = [(EXERCISES[number], write(number, tmp_path)) for number in EXERCISES if number != 12]
    monkeypatch.setattr(demo, "LINE_EVERY", 3)
    assert losses(demo.load_parts(files)) == losses({})
