"""`npbert learn`, as a learner types it."""

import os
from pathlib import Path

import pytest

from npbert.learn import printing
from npbert.learn.exercises import EXERCISES
from tests.learn.answers import write


def test_files_are_written_and_what_is_there_is_never_touched(learn, tmp_path):
    folder = tmp_path / "backprop"
    folder.mkdir()
    mine = write(2, folder)
    (folder / "notes.txt").write_text("mine")
    before = mine.read_bytes()
    status, out, _ = learn()
    assert status == 0
    assert out.startswith(f"Wrote {len(EXERCISES) - 1} exercises into {folder}.\n")
    assert "Open backprop/01_derivative.py" in out
    assert mine.read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [
        *(exercise.file_name for exercise in EXERCISES.values()),
        "notes.txt",
    ]
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    status, out, _ = learn()
    first = f"All {len(EXERCISES)} exercises are already in {folder}. Nothing was changed."
    assert (status, out.splitlines()[0]) == (0, first)
    assert before == {path: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_into_another_folder(learn, tmp_path, in_this_process):
    assert "npbert learn check 01 --folder my/own" in learn("--folder my/own")[1]
    assert (tmp_path / "my/own/07_layer_norm.py").exists()
    write(3, tmp_path / "my/own", ("cdf + x * density", "cdf - x * density"))
    assert "npbert learn hint 03 --folder my/own" in " ".join(learn("check 3 --folder my/own")[1].split())


def test_inside_the_folder_itself(learn, folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert f"All {len(EXERCISES)} exercises are already in {folder}. Nothing was changed." in learn()[1]
    assert not (folder / "backprop").exists()


def test_check_of_one_in_its_states(learn, folder):
    status, out, _ = learn("check 2")
    assert (status, out.splitlines()[0]) == (1, "02 Linear: not begun")
    assert f"Open {Path('backprop/02_linear.py')}. To read:" in " ".join(out.split())
    write(2, folder, ("x.T @ dy", "x.T @ dy / len(x)"), ("dx = dy", "dx = -dy"))
    status, out, _ = learn("check linear")
    assert status == 1
    assert out.startswith("02 Linear: not right yet\n\n  1. dW is wrong; line 55 (extra factor):\n")
    assert "\n  2. dx is wrong; line 57 (sign):\n" in out and "With this change" not in out
    assert out.endswith("\n  A hint:      npbert learn hint 02\n  The change:  npbert learn hint 02 4\n")
    assert max(map(len, out.splitlines()[:-3])) <= 80
    assert "1. With these changes dW is right:\n" in learn("check 2 --mend")[1]
    write(2, folder, ("return dx", "print('a line\\n' * 20)\n        return dx"))
    status, out, _ = learn("check backprop/02_linear.py")
    assert (status, out.splitlines()[0], out.count("    | a line\n")) == (0, "02 Linear: right", 10)


def test_check_of_all(learn, folder):
    write(2, folder)
    write(3, folder, ("cdf + x * density", "cdf - x * density"))
    write(4, folder, ("axis=-1", "axis=0"))
    status, out, _ = learn("check --folder backprop --mend")
    assert (status, "With this change dx is right" in out) == (1, True)
    assert out.count(": not begun\n") == len(EXERCISES) - 3
    assert "04 softmax: not right yet (explained by npbert learn check 04)\n" in out
    assert "02 Linear: right\n" in out
    assert "03 GELU: not right yet\n\n  dx is wrong; line " in out
    assert out.endswith(f"\n1 of {len(EXERCISES)} are right\n")


def test_show_is_for_what_is_right_and_sets_the_librarys_version_beside_the_learners(learn, folder):
    status, out, _ = learn("show 7")
    assert status == 1
    assert "three_paths" not in out
    shown = {}
    for number, exercise in EXERCISES.items():
        shown[number] = printing.show(exercise, Path("backprop") / write(number, folder).name)
        if number != 15:
            assert all(f"{blank}, yours" in shown[number] for blank in EXERCISES[number].written)
            assert "the library's (npbert/" in shown[number]
    assert "def block_squares(" in shown[13], "what it calls itself calls it"
    assert "b, MeanSquaredError: b2, which should have (2 * float(dloss)" in shown[15]
    assert learn("show 7")[:2] == (0, f"{shown[7]}\n")
    parts = (
        "stretch = (dx_hat * x_hat).mean",
        "LayerNorm, the library's (npbert/layers/layer_norm.py)",
        "return rowwise(self.three_paths",
        "stretch = dot_rows(dx_hat, x_hat) / dy.shape[-1]",
        "rowwise(f, x) is f(x), a few rows at a time",
    )
    assert [shown[7].index(part) for part in parts] == sorted(shown[7].index(part) for part in parts)


def test_exercises_again_in_another_form(learn, tmp_path, in_this_process):
    said = f"Wrote 6 exercises into {tmp_path / 'backprop'}.\n\nOpen backprop/102_linear_again.py"
    assert learn("again")[1].startswith(said)
    status, out, _ = learn("check 102")
    assert status == 1 and out.startswith("102 Linear, as PyTorch stores it: not begun")


def test_a_hint_leads_to_the_next_and_the_last_to_the_change(learn, folder):
    assert learn("hint 10 2")[1].startswith("10 attention, hint 2 of 3\n\n  S = Q Kᵀ/√d.")
    assert "For the next hint: npbert learn hint 10 2" in learn("hint 10")[1]
    assert "your answer right: npbert learn hint 02 4" in " ".join(learn("hint 02 3")[1].split())
    write(2, folder, ("dx = dy", "dx = -dy"))
    assert "With this change dx is right" in learn("hint 02 4")[1]


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        ("check layer_nrom", 1, f"EXERCISE is 'layer_nrom', wanted 1 to {len(EXERCISES)}; did you mean layer_norm?"),
        (
            "check 02 --folder empty",
            1,
            "empty/02_linear.py does not exist; `npbert learn --folder empty` writes it, or give the folder of",
        ),
        (
            "check elsewhere/02_linear.py",
            1,
            "elsewhere/02_linear.py does not exist; `npbert learn` writes it, or give the",
        ),
        ("--folder file", 1, "file is a file, wanted a folder for the exercises; choose another with --folder"),
        (
            "check 02",
            1,
            "backprop/02_linear.py does not exist; `npbert learn` writes it, or give the folder of your exercises with",
        ),
        ("hint 2 5", 2, " hint: error: N is 5, wanted 1 to 4: three hints, and the change itself"),
        ("02", 2, ": error: unknown command '02', wanted one of check, hint, show, again, demo"),
    ],
)
def test_one_line_says_what_is_wrong(arguments, status, says, learn, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    given, out, err = learn(arguments)
    assert (given, out) == (status, "")
    assert says.replace("/", os.sep) in err.splitlines()[-1]
