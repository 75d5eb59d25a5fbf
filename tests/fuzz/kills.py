"""`python -m tests.fuzz.kills --minutes 10`: runs that are killed, stopped and frozen at random moments, over and over.

A run goes on after each of them, and must end with the same bytes as one that nobody disturbed, with no file left
behind and no process. How a run ended, and at what the signals hit it, is printed as a table.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.training.tiny import results, write_checkpoint, write_corpus, write_labelled

ACTIONS = {
    "SIGKILL": [signal.SIGKILL],
    "SIGTERM": [signal.SIGTERM],
    "SIGINT": [signal.SIGINT],
    "SIGINT twice": [signal.SIGINT, signal.SIGINT],
    "SIGTERM, SIGKILL": [signal.SIGTERM, signal.SIGKILL],
    "SIGSTOP, SIGCONT": [signal.SIGSTOP, signal.SIGCONT],
    "SIGSTOP, SIGKILL": [signal.SIGSTOP, signal.SIGKILL],
}


def commands(folder: Path) -> dict[str, list[str]]:
    """The runs by name: what npbert is given, but for the folder."""
    corpus, held_out = write_corpus(folder / "a.txt"), write_corpus(folder / "b.txt", documents=2, seed=1)
    labelled, judged = write_labelled(folder / "a.tsv", rows=60), write_labelled(folder / "b.tsv", seed=1)
    checkpoint = write_checkpoint(folder / "checkpoint")
    often = "--save-every 2 --evaluate-every 4 --log-every 3 --max-length 20 --batch-size 4 --steps 60"
    texts = f"--corpus {corpus} --held-out {held_out} --vocabulary {checkpoint} --model {checkpoint}"
    tables = f"--train {labelled} --held-out {judged} --model {checkpoint} --text 0 --label 1"
    return {"pretrain": f"{texts} {often}".split(), "finetune": f"{tables} {often}".split()}


def start(name: str, folder: Path, arguments: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "npbert", name, str(folder), *arguments]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **quiet)  # type: ignore[call-overload, no-any-return]


def disturb(process: subprocess.Popen[str], actions: list[signal.Signals], moments: random.Random) -> None:
    """Send the signals, with a moment between them; nothing happens to a process that is done."""
    for action in actions:
        process.send_signal(action)
        time.sleep(moments.uniform(0, 0.05))


def one_run(name: str, folder: Path, arguments: list[str], moments: random.Random, seconds: float) -> Counter[str]:
    """From the beginning to the end, through as many disturbances as it takes; what became of each."""
    counts: Counter[str] = Counter()
    while True:
        is_new = not (folder / "state.safetensors").exists()
        process = start(name, folder, arguments if is_new else ["--resume"])
        what = moments.choice(list(ACTIONS))
        time.sleep(moments.uniform(0, 1.1 * seconds))
        was_running = process.poll() is None
        disturb(process, ACTIONS[what], moments)
        _, said = process.communicate(timeout=300)
        # While Python starts and imports, it is Python that speaks.
        is_importing = "Traceback" in said and not re.search(r"cli/__init__.*, in main\n", said)
        if "Traceback" in said and not is_importing:
            raise AssertionError(f"{what}: {said}")
        if was_running:
            counts["SIGINT while importing" if is_importing else what] += 1
        if process.returncode == 0:
            return counts
        if is_importing:
            continue
        if process.returncode not in (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, 130):
            raise AssertionError(f"{what}: status {process.returncode}: {said}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, metavar="N", help="for how long (10)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="other moments (0)")
    args = parser.parse_args()
    moments, total, runs = random.Random(args.seed), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        all_commands, wanted, files, seconds = commands(folder), {}, {}, {}
        for name, arguments in all_commands.items():
            begin = time.perf_counter()
            assert start(name, folder / f"whole-{name}", arguments).wait() == 0
            seconds[name] = time.perf_counter() - begin
            wanted[name] = results(folder / f"whole-{name}")
            files[name] = names_in(folder / f"whole-{name}")
        end = time.monotonic() + 60 * args.minutes
        while time.monotonic() < end:
            name = moments.choice(list(all_commands))
            run = folder / "run"
            total += one_run(name, run, all_commands[name], moments, seconds[name])
            assert results(run) == wanted[name], f"{name} ended with other bytes: {run}"
            assert names_in(run) == files[name], f"{names_in(run) ^ files[name]} should not be there, or should"
            runs[name] += 1
            shutil.rmtree(run)
    for what, count in total.most_common():
        print(f"{what:<20}{count:>6}")
    print(f"{sum(total.values())} in all, in {sum(runs.values())} runs, each of which ended with the same bytes")
    return 0


def names_in(folder: Path) -> set[str]:
    """The files of a run, but for TensorBoard's, of which every process writes its own."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "tensorboard" not in path.parts}


if __name__ == "__main__":
    sys.exit(main())
