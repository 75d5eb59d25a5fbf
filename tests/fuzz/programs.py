"""Cases of programs: closed streams, signals, threads that share a model, and what a learner's file may do."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import npbert
from npbert.cli import main
from npbert.learn.exercises import EXERCISES
from tests.fuzz.base import Base
from tests.fuzz.kinds import Call, kind
from tests.fuzz.mutate import Rng, pick, spoil_lines
from tests.fuzz.outcome import Nonsense, Outcome, check_text, command
from tests.learn.answers import right_answer
from tests.training.tiny import saved_step

HABITS = (
    "while True: pass",
    "import os, signal; os.killpg(0, signal.SIGKILL)",
    "import os; os._exit(0)",
    "raise SystemExit('right')",
    "print('\\x1b[2J' * 10**6)",
    "raise ValueError('x' * 10**8)",
    "[0] * 10**12",
    "import threading; threading.Thread(target=input).start()",
    "import subprocess; subprocess.Popen(['sleep', '30'])",
    "import sys; sys.setrecursionlimit(10**9); f = lambda: f(); f()",
    "import numpy; numpy.add = None",
)


@kind(0.15)
def streams(rng: Rng, base: Base, folder: Path) -> Call:
    """A program whose input or output is closed, full, or nobody's any more."""
    name = pick(rng, ["embed", "classify", "tag", "fill-mask"])
    given = pick(
        rng, [[name, str(base.checkpoints[name])], ["--help"], [name, "--help"], ["params", "bert-tiny"], ["nonsense"]]
    )
    (folder / "in").write_text("the [MASK] sat .\n" * int(rng.integers(1, 300)), encoding="utf-8")
    reading = pick(rng, ["<in", "<&-", "</dev/null", "<."])
    writing = pick(rng, [">out", ">&-", ">/dev/full", "| head -c 20 >out", "| true"])
    errors = pick(rng, ["2>err", "2>err", "2>err", "2>&-", "2>/dev/full"])
    program = f'"{sys.executable}" -m npbert "$@" {reading} {errors} {writing}'

    def call() -> Outcome:
        status = subprocess.run(["bash", "-c", program, "bash", *given], cwd=folder, timeout=60, check=False).returncode
        said = (folder / "err").read_text(encoding="utf-8") if (folder / "err").exists() else ""
        check_text(said)
        if status not in (0, 1, 2):
            raise Nonsense(f"the status is {status}: {said}")
        return Outcome("refused" if status else "accepted", said)

    return call


@kind(0.05)
def hang_ups(rng: Rng, base: Base, folder: Path) -> Call:
    """A signal in the middle of training, alone or by two processes; then it goes on."""
    run = folder / "new"
    given = [sys.executable, "-m", "npbert", "pretrain", str(run), "--settings", str(base.run / "settings.toml")]
    given += ["--steps", "2000", "--save-every", "1000", "--log-every", "500"]
    mpiexec = Path(sys.executable).with_name("mpiexec")
    if mpiexec.exists() and rng.random() < 0.3:
        given = [str(mpiexec), "-n", "2", *given, "--parts", "2"]
    number = pick(rng, [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
    wait = float(rng.uniform(0, 3))

    def call() -> Outcome:
        with (folder / "err").open("wb") as err:
            process = subprocess.Popen(
                given, cwd=folder, stdin=subprocess.DEVNULL, stdout=err, stderr=err, start_new_session=True
            )
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(wait)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            process.wait(60)
        said = (folder / "err").read_text(encoding="utf-8", errors="replace")
        if "Traceback" in said and "npbert/training" in said:
            raise Nonsense(said)
        if not (run / "state.safetensors").exists():
            return Outcome("refused", said)
        resumed = command("pretrain", run, "--resume", "--steps", saved_step(run) + 2, is_json=False)
        return resumed if resumed.what == "accepted" else Outcome("nonsense", f"{said}\n{resumed.said}")

    return call


@kind(0.3)
def threads(rng: Rng, base: Base, folder: Path) -> Call:
    """Several threads with one model: each gets what it would get alone."""
    embed = _embed(base.checkpoints["embed"])
    words = ["the", "cat", "dog", "sat", "on", "[MASK]", "é", "unknown"]
    texts = [" ".join(rng.choice(words, int(rng.integers(1, 30))).tolist()) for _ in range(12)]
    lengths = [int(rng.integers(5, 16)) for _ in texts]

    def one(text: str, length: int) -> object:
        return embed([text]).tolist(), embed.tokenizer.encode([text], max_length=length)[0].ids

    def call() -> None:
        alone, together = [one(*given) for given in zip(texts, lengths, strict=True)], [None] * len(texts)

        def work(first: int) -> None:
            for place in range(first, len(texts), 3):
                together[place] = one(texts[place], lengths[place])  # type: ignore[call-overload]

        workers = [threading.Thread(target=work, args=(first,)) for first in range(3)]
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        sys.setswitchinterval(before)
        if together != alone:
            raise Nonsense("threads that share a model get other numbers")

    return call


@kind(0.03)
def learn(rng: Rng, base: Base, folder: Path) -> Call:
    """A learner's file, right once, with spoiled lines or with habits that no answer should have."""
    exercise = pick(rng, list(EXERCISES.values()))
    source = right_answer(exercise.number)
    lines = source.splitlines(keepends=True)
    file = folder / exercise.file_name
    if rng.random() < 0.5:
        file.write_bytes(spoil_lines(rng, source, " "))
    else:
        bodies = [place for place, line in enumerate(lines) if re.match(r" {4,}(return|\w+ =)", line)]
        place = pick(rng, bodies[-9:])
        indent = re.match(" *", lines[place])
        lines.insert(place, f"{indent[0] if indent else ''}{pick(rng, HABITS)}\n")
        file.write_text("".join(lines), encoding="utf-8")

    def call() -> Outcome:
        out = io.StringIO()
        with mock.patch.multiple(sys, stdout=out, stderr=out):
            status = main(["learn", "check", str(exercise.number), "--folder", str(folder)])
        check_text(re.sub(r"(?m)^    \| .*$", "", out.getvalue()))  # the learner's code may print what it likes
        if status not in (0, 1, 2):
            raise Nonsense(f"the status is {status}: {out.getvalue()}")
        return Outcome("refused" if status else "accepted", out.getvalue())

    return call


@cache
def _embed(folder: Path) -> Any:
    return npbert.Embed.from_pretrained(folder)
