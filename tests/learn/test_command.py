"""`npbert learn`, as a learner types it."""

import os
import re

import pytest

from npbert.learn.exercises import EXERCISES
from tests.learn.answering import answered, write
from tests.learn.right_answers import RIGHT as ANSWERS


def test_files_are_written_and_what_is_there_is_never_touched(learn, tmp_path):
    folder = tmp_path / "backprop"
    folder.mkdir()
    mine = write(2, folder)
    (folder / "notes.txt").write_text("mine")
    before = mine.read_bytes()
    status, out, _ = learn()
    assert status == 0
    assert out.startswith("14 exercises written into backprop/\n")
    assert "Begin with backprop/01_derivative.py" in out
    assert mine.read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [
        *(exercise.file_name for exercise in EXERCISES.values()),
        "notes.txt",
    ]
    stamps = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    status, out, _ = learn()
    assert (status, out.splitlines()[0]) == (0, "all 15 exercises are in backprop already; nothing was changed")
    assert stamps == {path: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_into_another_folder(learn, tmp_path):
    _, out, _ = learn("--folder", "my/own")
    assert "npbert learn check 01 --folder my/own" in out
    assert (tmp_path / "my/own/07_layer_norm.py").exists()
    write(3, tmp_path / "my/own", changes=[("_cdf(x) + x * np", "_cdf(x) + np")])
    assert "npbert learn hint 03 --folder my/own" in " ".join(learn("check", "3", "--folder", "my/own")[1].split())


def test_inside_the_folder_itself(learn, tmp_path, monkeypatch):
    learn()
    monkeypatch.chdir(tmp_path / "backprop")
    status, out, _ = learn("check", "2")
    assert (status, out.splitlines()[0]) == (1, "02 Linear: not begun")
    assert "all 15 exercises are in this folder already" in learn()[1]
    assert "npbert learn check 01 " in learn()[1]
    assert not (tmp_path / "backprop/backprop").exists()


def test_check_of_one_in_its_states(learn, tmp_path, in_this_process):
    learn()
    status, out, _ = learn("check", "2")
    assert (status, out.splitlines()[0]) == (1, "02 Linear: not begun")
    write(2, tmp_path / "backprop", changes=[("x.T @ dy", "x.T @ dy / len(x)")])
    status, out, _ = learn("check", "linear")
    assert status == 1
    first, _, says, *_ = out.splitlines()
    assert first == "02 Linear: not right yet"
    assert says == "  dW is wrong; line 56 (drop factor):"
    assert "With this change" not in out and "x.T @ dy / len(x)" in out
    assert "With this change dW is right:\n" in learn("check", "2", "--mend")[1]
    assert "With this change dW is right:\n" in learn("hint", "2", "4")[1]
    assert out.endswith("\n\n  To read: docs/02-one-step-in-numbers.md\n  A hint:  npbert learn hint 02\n")
    assert max(map(len, out.splitlines())) <= 80
    write(2, tmp_path / "backprop")
    status, out, _ = learn("check", "backprop/02_linear.py")
    assert (status, out.splitlines()[0]) == (0, "02 Linear: right")
    write(2, tmp_path / "backprop", changes=[("return dy @", "print('a line\\n' * 20)\n        return dy @")])
    status, out, _ = learn("check", "02")
    assert status == 0
    assert out.count("    | a line\n") == 10
    assert "Your code printed (it is run several times; this is the beginning):\n" in out


def test_check_of_all(learn, tmp_path, in_this_process):
    learn()
    write(2, tmp_path / "backprop")
    write(3, tmp_path / "backprop", changes=[("_cdf(x) + x * np", "_cdf(x) + np")])
    write(4, tmp_path / "backprop", changes=[("return p *", "return")])
    status, out, _ = learn("check")
    assert status == 1
    assert out.count(": not begun\n") == 12
    assert "04 softmax: not right yet (npbert learn check 04 says why)\n" in out
    assert "02 Linear: right\n" in out
    assert "03 GELU: not right yet\n\n  dx is wrong; line " in out
    assert out.endswith("\n1 of 15 are right\n")


def test_show_is_for_what_is_right(learn, tmp_path, in_this_process):
    learn()
    status, out, _ = learn("show", "7")
    assert status == 1
    assert "three_roads" not in out
    for number in EXERCISES:
        write(number, tmp_path / "backprop")
        status, out, _ = learn("show", str(number))
        assert status == 0
        if number != 15:
            assert all(f"{blank}, yours" in out for blank in EXERCISES[number].blanks)
            assert out.count("the library's (npbert/") >= 1
    assert "  should be\n" in out


def test_the_learners_version_is_shown_beside_the_librarys(learn, tmp_path, in_this_process):
    learn()
    write(7, tmp_path / "backprop")
    _, out, _ = learn("show", "07")
    places = [
        out.index(part)
        for part in (
            "stretch = (dx_hat * x_hat).mean",
            "dx: Array = rowwise(self.three_roads",
            "LayerNorm.three_roads, which it calls (npbert/layers/layer_norm.py)",
            "stretch = dot_rows(dx_hat, x_hat) / dy.shape[-1]",
            "rowwise(f, x) is f(x), a few rows at a time",
        )
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("number", "called"),
    [(2, []), (3, ["_density"]), (4, ["softmax_backward"]), (8, []), (10, []), (13, ["global_norm", "clip_factor"])],
)
def test_what_the_library_calls_is_shown_unless_the_file_has_it(number, called, learn, tmp_path, in_this_process):
    learn()
    write(number, tmp_path / "backprop")
    _, out, _ = learn("show", str(number))
    assert re.findall(r"^(\w+), which it calls", out, re.MULTILINE) == called


def test_hints(learn):
    """They need no file, and each says how to get the next."""
    outs = [learn("hint", "07", *number)[1] for number in ([], ["1"], ["2"], ["3"])]
    assert outs[0] == outs[1]
    assert "npbert learn hint 07 2" in outs[0]
    assert "npbert learn hint 07 3" in outs[2]
    assert "This was the last hint." in outs[3]
    assert max(len(line) for out in outs for line in out.splitlines()) <= 80


def test_hints_are_for_the_part_that_is_not_right_yet(learn, tmp_path, in_this_process):
    learn()
    assert learn("hint", "10")[1].startswith("10 attention, hint 1 of 3\n\n  Backwards from C = A V")
    path = tmp_path / "backprop" / EXERCISES[10].file_name
    path.write_text(answered(10, {"attend_backward": "return dc"}), encoding="utf-8")
    assert learn("hint", "10")[1].startswith("10 attention, DotProductAttention, hint 1 of 3\n\n  Backwards from C")
    path.write_text(answered(10, {"attend_backward": ANSWERS[10][0]["attend_backward"]}), encoding="utf-8")
    outs = [learn("hint", "10", str(number))[1] for number in (1, 2, 3)]
    assert all(out.startswith(f"10 attention, PaddedAttention, hint {n} of 3\n") for n, out in enumerate(outs, 1))
    assert "It is part one once more" in outs[0] and "self.merge(dv)" in outs[2]


def test_several_mistakes_are_numbered_each_with_its_reason(learn, tmp_path, in_this_process):
    learn()
    write(
        2, tmp_path / "backprop", changes=[("x.T @ dy", "x.T @ dy / len(x)"), ("dy @ self.weight", "-dy @ self.weight")]
    )
    paragraphs = learn("check", "2")[1].split("\n\n")
    numbered = [paragraph.strip()[:14] for paragraph in paragraphs if paragraph.strip()[:3] in ("1. ", "2. ", "3. ")]
    assert numbered == ["1. dW is wrong", "2. dx is wrong"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("check 16", "there is no exercise '16', wanted 1 to 15"),
        ("check layer_nrom", "there is no exercise 'layer_nrom', wanted 1 to 15; did you mean layer_norm?"),
        ("check 02 --folder empty", "there is no empty/02_linear.py: `npbert learn --folder empty` writes it"),
        ("--folder file", "file is a file, wanted a folder for the exercises: name another with --folder"),
    ],
)
def test_one_line_says_what_is_wrong(arguments, says, learn, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    assert learn(*arguments.split()) == (1, "", f"npbert: error: {says}\n".replace("/", os.sep))


@pytest.mark.parametrize(("option", "folder"), [("", "backprop"), (" --folder else", "else")])
def test_in_the_wrong_folder_no_second_set_of_exercises_is_asked_for(option, folder, learn, tmp_path):
    status, out, error = learn("check", "02", *option.split())
    assert (status, out) == (1, "")
    assert error == (
        f"npbert: error: there is no folder {folder} in {tmp_path}: if your exercises are elsewhere, go there, or name "
        f"their folder with --folder; if there are none yet, `npbert learn{option}` writes them\n"
    )


def test_an_exercise_goes_by_what_is_written_in_it_too(learn, in_this_process):
    learn()
    for name in ("Linear", "linear", "LINEAR", "2", "02", "02_linear.py"):
        assert learn("check", name)[1].startswith("02 Linear: not begun"), name


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("hint", "say of which exercise, as in npbert learn hint 02"),
        ("hint 2 5", "there is no hint 5: there are three, and the change itself"),
        ("check 2 1", "there is no place for '1'"),
        ("hint 2 --watch", "--watch belongs to npbert learn check"),
        ("02", "say what to do with exercise 02: npbert learn check 02, hint 02 or show 02"),
        ("chek", "ACTION is 'chek', wanted one of check, hint, show, again, demo; did you mean check?"),
    ],
)
def test_arguments_that_are_not_understood(arguments, says, learn, capsys):
    with pytest.raises(SystemExit, match="2"):
        learn(*arguments.split())
    assert capsys.readouterr().err.splitlines()[-1] == f"npbert learn: error: {says}"
