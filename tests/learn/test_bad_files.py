"""Whatever is in the file, the answer is one clear message."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from npbert.learn import RIGHT, WRONG, check, judge_file
from npbert.learn.exercises import EXERCISES
from npbert.learn.process import COMPUTING, WAITING
from tests.learn.answers import answered, right

LINEAR = right(2)["Linear.backward"]


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "02_linear.py"
    path.write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8" in judge_file(EXERCISES[2], path).says


def test_what_is_printed_is_shown_and_does_no_harm(judge):
    verdict = judge(2, answered(2, f"print('dy is', dy.shape)\n{LINEAR}"))
    assert (verdict.status, verdict.printed.splitlines()[0]) == (RIGHT, "dy is (8, 7)")
    assert len(judge(2, answered(2, f"print('z' * 10000)\n{LINEAR}")).printed) < 3000


ENDLESS = "The check was stopped in line {line}: perhaps an endless loop."
ASLEEP = """import ctypes, os
sleep = ctypes.PyDLL("kernel32").Sleep if os.name == "nt" else ctypes.PyDLL(None).usleep
while sleep(10**8): pass"""
CHILD = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)', __file__])"
ENDED = {
    "while True: sum(range(1000))": ENDLESS,
    ASLEEP: ENDLESS,
    "import os\nos._exit(1)": "Running the file crashed (status 1).",
    f"import subprocess, sys\nif 'child' not in globals(): globals()['child'] = {CHILD}\n{LINEAR}": "",
}
"""By what stands in the blank, what is said. While a PyDLL sleeps, as while it computes, no other thread runs."""


def test_in_a_process_of_its_own_what_does_not_come_back_is_ended(tmp_path, thorough):
    """All at once, as each takes its time."""
    ended = ENDED if thorough else dict([*ENDED.items()][::3])  # without the one that sleeps
    paths = [tmp_path / str(number) / "02_linear.py" for number in range(len(ended))]
    for path, body in zip(paths, ended, strict=True):
        path.parent.mkdir()
        path.write_text(answered(2, body), encoding="utf-8")
    computing = [1 if "while True" in body else COMPUTING for body in ended]
    waiting = [5 if body == ASLEEP else WAITING for body in ended]
    with ThreadPoolExecutor() as pool:
        verdicts = list(pool.map(check, [EXERCISES[2]] * len(paths), paths, computing, waiting))
    assert [verdict.status for verdict in verdicts] == [WRONG if says else RIGHT for says in ended.values()]
    for path, verdict, (body, says) in zip(paths, verdicts, ended.items(), strict=True):
        lines = path.read_text(encoding="utf-8").splitlines()
        line = next((n for n, text in enumerate(lines, 1) if "while" in text), 0)
        assert verdict.says == says.format(line=line)
        assert f"{lines[line - 1].strip()}\n\nThe arrays are tiny" in verdict.because or "while" not in body
    left = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not any(str(tmp_path).encode() in command for command in left), "a child"
