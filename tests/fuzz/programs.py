"""Cases of programs: closed streams, and threads that share a model."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import npbert
from tests.fuzz.base import Base
from tests.fuzz.kinds import Call, kind
from tests.fuzz.mutate import Rng, pick
from tests.fuzz.outcome import Nonsense, Outcome, ended


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
        err = folder / "err"
        return ended(status, err.read_text(encoding="utf-8") if err.exists() else "", must_speak=False)

    return call


@kind(0.3)
def threads(rng: Rng, base: Base, folder: Path) -> Call:
    """Several threads with one model: each gets what it would get alone."""
    embed = npbert.Embed.from_pretrained(base.checkpoints["embed"])
    words = ["the", "cat", "dog", "sat", "on", "[MASK]", "é", "unknown"]
    texts = [" ".join(rng.choice(words, int(rng.integers(1, 30))).tolist()) for _ in range(12)]

    def one(text: str) -> object:
        return embed([text]).tolist(), embed.tokenizer.encode([text], max_length=5 + len(text) % 11)[0].ids

    def call() -> None:
        alone, before = list(map(one, texts)), sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        with ThreadPoolExecutor(3) as threads:
            together = list(threads.map(one, texts))
        sys.setswitchinterval(before)
        if together != alone:
            raise Nonsense("threads that share a model get other numbers")

    return call
