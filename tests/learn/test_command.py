"""`npbert learn`, as a learner types it."""

import os
import sys
from pathlib import Path

import pytest

from npbert.learn import printing
from npbert.learn.exercises import EXERCISES
from tests.learn.answers import answered, right, write


def test_files_are_written_and_what_is_there_is_never_touched(learn, tmp_path):
    folder = tmp_path / "backprop"
    folder.mkdir()
    mine = write(2, folder)
    (folder / "notes.txt").write_text("mine")
    before = mine.read_bytes()
    status, out, _ = learn()
    assert status == 0
    assert out.startswith(f"Wrote {len(EXERCISES) - 1} exercises into backprop/.\n")
    assert "Open backprop/01_derivative.py" in out
    assert mine.read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [
        *(exercise.file_name for exercise in EXERCISES.values()),
        "notes.txt",
    ]
    stamps = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    status, out, _ = learn()
    assert (status, out.splitlines()[0]) == (
        0,
        f"All {len(EXERCISES)} exercises are already in backprop. Nothing was changed.",
    )
    assert stamps == {path: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_into_another_folder(learn, tmp_path, in_this_process):
    assert "npbert learn check 01 --folder my/own" in learn("--folder my/own")[1]
    assert (tmp_path / "my/own/07_layer_norm.py").exists()
    write(3, tmp_path / "my/own", ("cdf + x * density", "cdf - x * density"))
    assert "npbert learn hint 03 --folder my/own" in " ".join(learn("check 3 --folder my/own")[1].split())


def test_inside_the_folder_itself(learn, folder, monkeypatch):
    monkeypatch.chdir(folder)
    status, out, _ = learn("check 2")
    assert (status, out.splitlines()[0]) == (1, "02 Linear: not begun")
    out = learn()[1]
    assert f"All {len(EXERCISES)} exercises are already in this folder" in out and "npbert learn check 01 " in out
    assert not (folder / "backprop").exists()


def test_check_of_one_in_its_states(learn, folder):
    status, out, _ = learn("check 2")
    assert (status, out.splitlines()[0]) == (1, "02 Linear: not begun")
    assert f"Open {Path('backprop/02_linear.py')}. To read:" in " ".join(out.split())
    write(2, folder, ("x.T @ dy", "x.T @ dy / len(x)"), ("dx = dy", "dx = -dy"))
    status, out, _ = learn("check linear")
    assert status == 1
    first, _, says, *_ = out.splitlines()
    assert first == "02 Linear: not right yet"
    assert says == "  1. dW is wrong; line 56 (extra factor):"
    assert "\n  2. dx is wrong; line 58 (sign):\n" in out
    assert "With this change" not in out and "x.T @ dy / len(x)" in out
    assert "1. With these changes dW is right:\n" in learn("check 2 --mend")[1]
    assert "With this change dW is right:\n" in learn("hint 2 4")[1]
    assert out.endswith("\n  A hint:      npbert learn hint 02\n  The change:  npbert learn hint 02 4\n")
    assert f"\n\n  To read:     docs/{EXERCISES[2].chapter.file}\n" in out
    assert max(map(len, out.splitlines()[:-3])) <= 80
    write(2, folder)
    status, out, _ = learn("check backprop/02_linear.py")
    assert (status, out.splitlines()[0]) == (0, "02 Linear: right")
    write(2, folder, ("return dx", "print('a line\\n' * 20)\n        return dx"))
    status, out, _ = learn("check 02")
    assert status == 0
    assert out.count("    | a line\n") == 10
    assert "Your code printed (it runs several times; this is the beginning):\n" in out


def test_check_of_all(learn, folder, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    write(2, folder)
    write(3, folder, ("cdf + x * density", "cdf - x * density"))
    write(4, folder, ("axis=-1", "axis=0"))
    status, out, at_work = learn("check")
    assert status == 1
    assert out.count(": not begun\n") == len(EXERCISES) - 3
    assert "04 softmax: not right yet (explained by npbert learn check 04)\n" in out
    assert "02 Linear: right\n" in out
    assert "03 GELU: not right yet\n\n  dx is wrong; line " in out
    assert out.endswith(f"\n1 of {len(EXERCISES)} are right\n")
    assert "02 Linear …\r           \r" in at_work


def test_show_is_for_what_is_right_and_sets_the_librarys_version_beside_the_learners(learn, folder):
    status, out, _ = learn("show 7")
    assert status == 1
    assert "three_roads" not in out
    shown = {}
    for number, exercise in EXERCISES.items():
        shown[number] = printing.show(exercise, Path("backprop") / write(number, folder).name)
        if number != 15:
            assert all(f"{blank}, yours" in shown[number] for blank in EXERCISES[number].blanks)
            assert "the library's (npbert/" in shown[number]
    assert "def block_squares(" in shown[13], "what it calls itself calls it"
    assert "  should be\n" in shown[15]
    assert learn("show 7")[:2] == (0, f"{shown[7]}\n")
    parts = (
        "stretch = (dx_hat * x_hat).mean",
        "LayerNorm, the library's (npbert/layers/layer_norm.py)",
        "dx: Array = rowwise(self.three_roads",
        "stretch = dot_rows(dx_hat, x_hat) / dy.shape[-1]",
        "rowwise(f, x) is f(x), a few rows at a time",
    )
    assert [shown[7].index(part) for part in parts] == sorted(shown[7].index(part) for part in parts)


def test_hints_are_for_the_part_that_is_not_right_yet(learn, folder):
    assert learn("hint 10")[1].startswith("10 attention, hint 1 of 3\n\n  Backwards from C = A V")
    path = folder / EXERCISES[10].file_name
    path.write_text(answered(10, "return dc"), encoding="utf-8")
    assert learn("hint 10")[1].startswith("10 attention, DotProductAttention, hint 1 of 3\n\n  Backwards from C")
    path.write_text(answered(10, right(10)[EXERCISES[10].blanks[0]]), encoding="utf-8")
    outs = [learn(f"hint 10 {number}")[1] for number in (1, 2, 3)]
    assert "For the next hint: npbert learn hint 10 2" in outs[0] and "This is the last hint." in outs[2]
    assert all(out.startswith(f"10 attention, PaddedAttention, hint {n} of 3\n") for n, out in enumerate(outs, 1))
    assert "It is part one again" in outs[0] and "self.merge(dv)" in outs[2]


NO_FOLDER = (
    "the folder {} does not exist in {}; if your exercises are elsewhere, go there, or give their folder with "
    "--folder; if you have none yet, `npbert learn{}` writes them"
)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("check 99", f"EXERCISE is '99', wanted 1 to {len(EXERCISES)}"),
        (
            "check layer_nrom",
            f"EXERCISE is 'layer_nrom', wanted 1 to {len(EXERCISES)}; did you mean layer_norm?",
        ),
        ("check 02 --folder empty", "empty/02_linear.py does not exist; `npbert learn --folder empty` writes it"),
        ("--folder file", "file is a file, wanted a folder for the exercises; choose another with --folder"),
        ("check 02", NO_FOLDER.format("backprop", "HERE", "")),
        ("check 02 --folder else", NO_FOLDER.format("else", "HERE", " --folder else")),
    ],
)
def test_one_line_says_what_is_wrong(arguments, says, learn, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    says = says.replace("/", os.sep).replace("HERE", str(tmp_path))
    assert learn(arguments) == (1, "", f"npbert: error: {says}\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("hint", " hint: error: EXERCISE is missing, wanted its number, such as 02"),
        ("hint 2 5", " hint: error: N is 5, wanted 1 to 4: three hints, and the change itself"),
        ("check 2 1", " check: error: unexpected argument '1'"),
        ("hint 2 --watch", " hint: error: unknown option --watch"),
        ("02", ": error: unknown command '02', wanted one of check, hint, show, again, demo"),
        ("chek", ": error: unknown command 'chek'; did you mean check?"),
    ],
)
def test_arguments_that_are_not_understood(arguments, says, learn):
    status, _, err = learn(arguments)
    assert (status, err.splitlines()[-1]) == (2, f"npbert learn{says}")
