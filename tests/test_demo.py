"""The demo, run as a person runs it."""

import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import npbert
from npbert.cli import main, run as main_of
from npbert.data import load_dialogue
from npbert.pages.number.page import number_page
from npbert.pages.site.build import number_data

DEMO = Path(__file__).parent.parent / "demo.py"


@pytest.fixture
def demo(monkeypatch, capsys):
    """demo("--epochs", 1) -> what it prints: .out and .err. In this process, of which it does not change memory."""
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # which the demo would set
    monkeypatch.setitem(sys.modules, "demo", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(sys.modules["demo"])
    monkeypatch.setattr("npbert.compute.keep_freed_memory", lambda: None)

    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def run(*arguments, status=0):
        assert main_of(sys.modules["demo"].DemoCommand, "python demo.py", list(map(str, arguments))) == status
        return capsys.readouterr()

    return run


def test_it_learns_and_what_it_saves_is_read_by_the_commands(tmp_path, demo):
    pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")
    folder = tmp_path / "new" / "toy"
    out = demo("--dialogue", 6, "--size", "page", "--epochs", 12, "--save", folder).out
    losses = [float(loss) for loss in re.findall(r"MLM (\d\.\d+) ", out)]
    assert len(losses) == 2, "a line every 10 epochs, and one at the end"
    assert 0 < losses[1] < losses[0] < 3.367
    assert "(3.367)   NSP" in out, "the loss of knowing nothing"
    right, total = map(int, re.search(r"masked words   (\d+) of (\d+) right", out).groups())
    assert (total, right > 90) == (468, True), "half as many again as the commonest word"
    assert " of 36 right" in out and "npbert fill-mask" in out.splitlines()[-1]
    (((word,),),) = npbert.FillMask.from_pretrained(folder)(["Oh [MASK], Juliet!"], top_k=1)
    assert word.token in load_dialogue(6).vocabulary.tokens


def test_ctrl_c_ends_with_what_it_has_learned():
    command = [sys.executable, DEMO, "--dialogue", "6", "--size", "page", "--epochs", "5000"]
    heeds = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}  # where a parent ignores it, too
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **heeds) as process:
        try:
            while "epoch" not in process.stdout.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "stopped; this is what it has learned so far" in rest
    assert " of 36 right" in rest.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--dialogue", "7"], 2, "--dialogue is 7, wanted 6 or 9"),
        (["--page=page.html", "--size=small"], 2, "--size is 'small', wanted none with --page"),
        (["--learning-rate", "1e30", "--epochs", "2"], 1, "try a smaller --learning-rate"),
        (["--page", "none/page.html"], 1, "none/page.html: No such file or directory"),
    ],
)
def test_what_stops_it_is_said_at_once(options, status, said, demo):
    printed = demo(*options, status=status)
    assert said in printed.err
    assert "epoch" not in printed.out


def test_lines_that_come_by_a_pipe_are_answered(demo, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("Thanks you, [MASK]\n\nwhat is love\n"))
    first, second = demo("--dialogue", 6, "--size", "page", "--epochs", 1).out.split("\n> ")[1:]
    assert first.startswith("Thanks you, [MASK]\n  [MASK] is ") and "not in the vocabulary: 'what'" in second


def test_without_numpy_it_says_what_it_needs(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = subprocess.run([sys.executable, DEMO], capture_output=True, text=True, check=False, env=env)
    assert (result.returncode, result.stdout, "Traceback" in result.stderr) == (1, "", False)
    assert re.search("the demo needs NumPy: .*pip install.*uv run demo.py", result.stderr)


def test_the_page_shows_a_model_of_its_own_which_is_that_of_the_site(tmp_path, demo):
    path = tmp_path / "page.html"
    said = f"{path} is written: open it in a browser, and follow a number back\n"
    assert demo("--page", path, "--epochs", 1).out.endswith(said)
    data = number_data(steps=8)  # as many as an epoch has
    assert path.read_text("utf-8") == number_page(data)
    assert data["config"]["hidden_size"] == 8
    hidden = [sum(label >= 0 for label in example["labels"]) for example in data["examples"]]
    assert hidden == [1] * 8 + [2], "one sentence of which the loss is a mean over several words"
    both, mask = data["examples"][-1], data["vocabulary"].index("[MASK]")
    assert [label >= 0 for label in both["labels"]] == [index == mask for index in both["input_ids"]]
    assert len(data["examples"][0]["input_ids"]) == 7, "five words, [CLS] and [SEP]"


def test_the_command_is_the_same_program_and_a_seed_gives_the_same_numbers(demo, capsys):
    options = ["--dialogue", "6", "--size", "page", "--epochs", "1", "--optimizer", "adadelta"]
    assert main(["demo", *options]) == 0
    printed = [capsys.readouterr(), demo(*options), demo(*options, "--seed", 3)]
    one, same, other = (re.sub(r" +\d+ s", "", each.out) for each in printed)
    assert one == same != other
    assert main(["demo", "--epochs", "0"]) == 2
    assert "npbert demo: error: --epochs is 0, wanted at least 1" in capsys.readouterr().err
