"""Cases around the files: links, files that are far too large, full disks, closed streams, threads, texts in a page."""

import json
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import npbert
from tests.fuzz.base import TEXTS, Base
from tests.fuzz.kinds import Call, kind, use
from tests.fuzz.mutate import NASTY, Rng, pick
from tests.fuzz.outcome import Nonsense, Outcome, command, ended

SPECIAL = ("/dev/zero", "/dev/full", "/dev/null", "/proc/self/mem", "/dev/stdin", "missing", ".")
MARKS = ("</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--", "&lt;", "{{ 7*7 }}", "]]>")
PARTS = {
    "normalizer": ["NFKC", "Lowercase", "StripAccents", "Nmt", "Strip", "BertNormalizer"],
    "pre_tokenizer": ["BertPreTokenizer", "WhitespaceSplit", "ByteLevel", "Metaspace", "Punctuation", "Whitespace"],
    "post_processor": ["BertProcessing", "RobertaProcessing", "TemplateProcessing", "ByteLevel"],
}
OPTIONS = {"sep": ["[SEP]", 3], "cls": ["[CLS]", 2], "single": [], "pair": [], "special_tokens": {}}
OPTIONS |= {"behavior": "Isolated", "prepend_scheme": "always", "replacement": "▁"}
OPTIONS |= dict.fromkeys(("lowercase", "clean_text", "handle_chinese_chars", "strip_left", "strip_right"), True)
OPTIONS |= dict.fromkeys(("add_prefix_space", "trim_offsets", "use_regex", "split"), True)
"""What the parts of a tokenizer take; each leaves what it does not know."""


@kind(3)
def tokenizer_parts(rng: Rng, base: Base, folder: Path) -> Call:
    """A tokenizer.json with a part that is not a BERT's, right or slightly wrong."""
    name, copy = base.copy_of_one(rng, folder)
    path, part = copy / "tokenizer.json", pick(rng, list(PARTS))
    changed = {"type": pick(rng, PARTS[part]), **OPTIONS}
    if rng.random() < 0.3:
        changed[pick(rng, list(changed))] = pick(rng, NASTY)
    value = json.loads(path.read_bytes()) | {part: changed}
    path.write_text(json.dumps(value), encoding="utf-8", errors="replace")
    if rng.random() < 0.7:  # else BERT's parts come in the place of these
        (copy / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    return lambda: use(name, copy)


@kind(0.7)
def links(rng: Rng, base: Base, folder: Path) -> Call:
    """A folder in which a link or a device stands in a file's place. What it leads to stays as it is."""
    name = pick(rng, [*base.checkpoints, "run", "run", "run"])
    copy = base.copy(base.run if name == "run" else base.checkpoints[name], folder)
    outside = folder / "outside"
    outside.write_bytes(b"not ours\n")
    places = [path for path in copy.rglob("*") if path.is_file()]
    places += [copy / "report.html", copy / "curves.png"] if name == "run" else []
    place = pick(rng, places)
    place.unlink(missing_ok=True)
    place.symlink_to(pick(rng, [outside, outside, place, *SPECIAL]))
    go_on = ("pretrain", copy, "--resume", "--steps", "6")
    arguments = pick(rng, [go_on, ("report", copy), ("evaluate", copy, base.corpus)])

    def call() -> Outcome:
        result = command(*arguments, is_json=False) if name == "run" else use(name, copy)
        if outside.read_bytes() != b"not ours\n":
            raise Nonsense(f"a file outside was written through a link: {outside.read_bytes()[:80]!r}")
        return result

    return call


@kind(0.15)
def large(rng: Rng, base: Base, folder: Path) -> Call:
    """A line that is far larger than anybody's."""
    file = folder / "large"
    word = pick(rng, ["the cat sat ", "a", "[MASK] ", "é\u0301", "\t", "漢", '"'])
    file.write_text(word * (1_000_000 // len(word)), encoding="utf-8")
    name, learn = pick(rng, list(TEXTS)), ("vocab", file, "--output", folder / "v", "--size", "60")
    read = base.checkpoints[name], file.read_bytes()
    return pick(rng, [lambda: use(name, *read), lambda: command(*learn, is_json=False)])


@kind(0.7)
def full_disk(rng: Rng, base: Base, folder: Path) -> Call:
    """No file may grow beyond a limit. What was there before is there afterwards, or the new file as a whole."""
    output, before, run = folder / "output", b"from before\n", base.copy(base.run, folder)
    given = pick(
        rng,
        [
            ["embed", base.checkpoints["embed"], base.corpus, "--output", pick(rng, [output, f"{output}.npy"])],
            ["vocab", base.corpus, "--output", output, "--size", "60"],
            ["pretrain", run, "--resume", "--steps", "6"],
            ["plot", "curves", run, "--output", f"{output}.svg"],
        ],
    )
    target, limit = Path(given[-1]), int(10 ** rng.uniform(0, 5))
    if given[0] == "embed":
        target.write_bytes(before)

    def call() -> Outcome:
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, usual[1]))
        try:
            result = command(*given, is_json=False)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        left = [path for path in folder.rglob(".*") if path.name != ".lock"]
        is_cut = result.what == "refused" and target.is_file() and target.read_bytes() != before
        if left or is_cut:
            raise Nonsense(f"left behind: {left}, or a part of {target}")
        return result

    return call


@kind(0.5)
def pages(rng: Rng, base: Base, folder: Path) -> Call:
    """Any text in a page: it stands there as text, and no part of it becomes HTML or script."""
    text, output = f"the [MASK] {pick(rng, [*MARKS, *NASTY])}".replace("\0", ""), folder / "page.html"

    def call() -> Outcome:
        result = command("page", base.checkpoints["fill-mask"], text, "--output", output, is_json=False)
        page = output.read_text(encoding="utf-8") if output.exists() else ""
        if "alert(1)</script>" in page or "<img src=x" in page:
            raise Nonsense("a text has become a part of the page")
        return result

    return call


@kind(0.15)
def streams(rng: Rng, base: Base, folder: Path) -> Call:
    """A program whose input or output is closed, full, or nobody's any more."""
    name = pick(rng, list(TEXTS))
    given = pick(rng, [[name, str(base.checkpoints[name])], ["--help"], ["params", "bert-tiny"], ["nonsense"]])
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
