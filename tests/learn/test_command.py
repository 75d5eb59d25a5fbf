"""`npbert learn`, as a learner types it."""

import os
import threading
import time

import pytest

from npbert.cli import learn as command
from npbert.cli import main
from npbert.learn import RIGHT, demo, judge_file
from npbert.learn.exercises import EXERCISES
from tests.learn.answering import answered
from tests.learn.right_answers import RIGHT as ANSWERS


@pytest.fixture
def learn(tmp_path, monkeypatch, capsys):
    """learn("check", "02") -> status, what is printed, what is said on standard error; in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments):
        capsys.readouterr()
        status = main(["learn", *arguments])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def in_this_process(monkeypatch):
    """The checker without a process of its own."""
    monkeypatch.setattr(command, "check", judge_file)


def write(number, folder, **changes):
    path = folder / EXERCISES[number].file_name
    text = answered(number, ANSWERS[number][0])
    for before, after in changes.get("changes", []):
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    return path


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


def test_check_of_one_in_its_states(learn, tmp_path):
    learn()
    status, out, _ = learn("check", "2")
    assert (status, out.splitlines()[0]) == (1, "02 Linear: not begun")
    write(2, tmp_path / "backprop", changes=[("x.T @ dy", "x.T @ dy / len(x)")])
    status, out, _ = learn("check", "linear")
    assert status == 1
    first, _, says, *_ = out.splitlines()
    assert first == "02 Linear: not right yet"
    assert says == "  dW is divided by the number of rows, but it is a plain sum over them."
    assert '"A Linear, a softmax and a' in out
    assert "npbert learn hint 02" in out
    assert max(map(len, out.splitlines())) <= 80
    write(2, tmp_path / "backprop")
    status, out, _ = learn("check", "backprop/02_linear.py")
    assert (status, out.splitlines()[0]) == (0, "02 Linear: right")
    write(2, tmp_path / "backprop", changes=[("return dy @", "print('a line\\n' * 20)\n        return dy @")])
    status, out, _ = learn("check", "02")
    assert status == 0
    assert out.count("    | a line\n") == 10
    assert "lines more\n" in out


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
    assert "03 GELU: not right yet\n\n  The slope is Φ(x) + φ(x): φ lacks its factor x.\n" in out
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
    assert out.index("stretch = (dx_hat * x_hat).mean") < out.index("dx: Array = rowwise(self.three_roads")


def test_hints(learn):
    """They need no file, and each says how to get the next."""
    outs = [learn("hint", "07", *number)[1] for number in ([], ["1"], ["2"], ["3"])]
    assert outs[0] == outs[1]
    assert "npbert learn hint 07 2" in outs[0]
    assert "npbert learn hint 07 3" in outs[2]
    assert "This was the last hint." in outs[3]
    assert max(len(line) for out in outs for line in out.splitlines()) <= 80


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("check 16", "there is no exercise '16', wanted 1 to 15"),
        ("check layernorm", "there is no exercise 'layernorm', wanted 1 to 15; did you mean layer_norm?"),
        ("check 02", "there is no backprop/02_linear.py: `npbert learn` writes it"),
        ("check 02 --folder else", "there is no else/02_linear.py: `npbert learn --folder else` writes it"),
        ("--folder file", "file is a file, wanted a folder for the exercises: name another with --folder"),
    ],
)
def test_one_line_says_what_is_wrong(arguments, says, learn, tmp_path):
    (tmp_path / "file").touch()
    assert learn(*arguments.split()) == (1, "", f"npbert: error: {says}\n".replace("/", os.sep))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("hint", "say of which exercise, as in npbert learn hint 02"),
        ("hint 2 4", "there is no hint 4: each exercise has three"),
        ("check 2 1", "there is no place for '1'"),
        ("hint 2 --watch", "--watch belongs to npbert learn check"),
        ("02", "say what to do with exercise 02: npbert learn check 02, hint 02 or show 02"),
        ("chek", "ACTION is 'chek', wanted one of check, hint, show, demo; did you mean check?"),
    ],
)
def test_arguments_that_are_not_understood(arguments, says, learn, capsys):
    with pytest.raises(SystemExit, match="2"):
        learn(*arguments.split())
    assert capsys.readouterr().err.splitlines()[-1] == f"npbert learn: error: {says}"


def test_a_file_is_checked_whenever_it_is_saved(learn, tmp_path, in_this_process, monkeypatch):
    learn()
    checked = []

    def check(exercise, path):
        checked.append(exercise.number)
        if len(checked) == 3:
            raise KeyboardInterrupt
        return judge_file(exercise, path)

    monkeypatch.setattr(command, "check", check)
    monkeypatch.setattr(command, "_POLL", 0.01)

    def save():
        for number in (3, 2, 3):
            time.sleep(0.2)
            write(number, tmp_path / "backprop")

    saving = threading.Thread(target=save)
    saving.start()
    status, out, _ = learn("check", "--watch")
    assert (status, out.partition(":")[0]) == (130, f"watching 15 files in backprop{os.sep}")
    saving.join()
    assert checked == [3, 2, 3]


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
