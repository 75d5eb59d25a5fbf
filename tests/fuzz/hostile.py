"""Cases around the files: parts of tokenizers, links, files that are far too large, full disks, texts in a page."""

import json
import resource
import shutil
from pathlib import Path
from typing import Any

from tests.fuzz.base import Base
from tests.fuzz.kinds import Call, kind, use
from tests.fuzz.mutate import NASTY, Rng, pick
from tests.fuzz.outcome import Nonsense, Outcome, command

SPECIAL = ("/dev/zero", "/dev/full", "/dev/null", "/proc/self/mem", "/dev/stdin", "missing", ".")
PIECES = {
    "normalizer": "NFC NFD NFKC NFKD Lowercase StripAccents Nmt BertNormalizer Replace Prepend Strip Precompiled",
    "pre_tokenizer": "BertPreTokenizer WhitespaceSplit UnicodeScripts ByteLevel Metaspace Punctuation Digits Split "
    "Whitespace CharDelimiterSplit FixedLength",
    "post_processor": "BertProcessing RobertaProcessing TemplateProcessing ByteLevel",
}
LISTS = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "post_processor": "processors"}
USUAL: dict[str, Any] = {
    "behavior": "Isolated",
    "prepend_scheme": "always",
    "precompiled_charsmap": "AAAA",
    "length": 0,
}
USUAL |= {"sep": ["[SEP]", 3], "cls": ["[CLS]", 2], "single": [], "pair": [], "special_tokens": {}, "delimiter": "a"}
USUAL |= dict.fromkeys(
    ["clean_text", "handle_chinese_chars", "lowercase", "strip_left", "strip_right", "add_prefix_space"], True
)
USUAL |= dict.fromkeys(["trim_offsets", "use_regex", "split", "individual_digits", "invert"], True)
USUAL |= dict.fromkeys(("content", "prepend", "replacement"), "▁")
"""What the pieces of a tokenizer take; each leaves what it does not know."""
PATTERNS = [{"Regex": "(a|a)*b"}, {"Regex": "(?=a)"}, {"String": "a"}]
CUT = {"direction": "Left", "max_length": 3, "strategy": "LongestFirst", "stride": 2}
FILL = {"direction": "Left", "strategy": {"Fixed": 10**6}, "pad_token": "[PAD]"}
FILL |= dict.fromkeys(("pad_to_multiple_of", "pad_id", "pad_type_id"), 0)


@kind(3)
def tokenizer_parts(rng: Rng, base: Base, folder: Path) -> Call:
    """A tokenizer.json whose parts are others than a BERT's, one or several in a row, right or slightly wrong."""
    name, copy = base.copy_of_one(rng, folder)
    path = copy / "tokenizer.json"
    value = json.loads(path.read_bytes())
    value |= pick(rng, [{}, {}, {"truncation": CUT}, {"padding": FILL}])
    for part in rng.choice(list(PIECES), int(rng.integers(1, 4)), replace=False).tolist():
        names = rng.choice(PIECES[part].split(), int(rng.integers(1, 4))).tolist()
        pieces = [{"type": name, **USUAL, "pattern": pick(rng, PATTERNS)} for name in names]
        for piece in pieces:
            if rng.random() < 0.3:
                piece[pick(rng, list(piece))] = pick(rng, NASTY)
        value[part] = {"type": "Sequence", LISTS[part]: pieces} if len(pieces) > 1 else pieces[0]
    path.write_text(json.dumps(value), encoding="utf-8", errors="replace")
    if rng.random() < 0.7:  # else BERT's parts come in the place of these
        config = {"tokenizer_class": "PreTrainedTokenizerFast"}
        (copy / "tokenizer_config.json").write_text(json.dumps(config))
    return lambda: use(name, copy)


@kind(0.7)
def links(rng: Rng, base: Base, folder: Path) -> Call:
    """A folder in which a link, a device or a folder stands in a file's place. What it leads to stays as it is."""
    name = pick(rng, [*base.checkpoints, "run", "run", "run"])
    copy = base.copy(base.run if name == "run" else base.checkpoints[name], folder)
    outside = folder / "outside"
    outside.write_bytes(b"not ours\n")
    places = [path for path in copy.rglob("*") if path.is_file()]
    if name == "run":
        places += [copy / made for made in ("report.html", "curves.png", "tensorboard")]
    for number in rng.choice(len(places), int(rng.integers(1, 3)), replace=False).tolist():
        if places[number].is_dir():
            shutil.rmtree(places[number])
        places[number].unlink(missing_ok=True)
        if rng.random() < 0.3:
            places[number].mkdir()
        else:
            places[number].symlink_to(pick(rng, [outside, outside, places[number], *SPECIAL]))
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
    """A line, or a tokenizer, that is far larger than anybody's."""
    word = pick(rng, ["the cat sat ", "a", "[MASK] ", "é\u0301", "\t", "漢", '"'])
    file = folder / "large"
    file.write_text(word * (1_000_000 // len(word)), encoding="utf-8")
    name, copy = base.copy_of_one(rng, folder)
    value = json.loads((copy / "tokenizer.json").read_bytes())
    if rng.random() < 0.3:
        value["added_tokens"] += [{**value["added_tokens"][0], "id": i, "content": f"<{i}>"} for i in range(9, 20_000)]
        (copy / "tokenizer.json").write_text(json.dumps(value))
    learn = ("vocab", file, "--output", folder / "v", "--size", "60")
    return pick(rng, [lambda: use(name, copy, file.read_bytes()), lambda: command(*learn, is_json=False)])


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
            ["page", base.checkpoints["fill-mask"], "the [MASK]", "--output", output],
            ["plot", "curves", run, "--output", f"{output}.svg"],
        ],
    )
    if given[0] in ("embed", "page") and rng.random() < 0.5:
        Path(given[-1]).write_bytes(before)
    limit = int(10 ** rng.uniform(0, 5))

    def call() -> Outcome:
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, usual[1]))
        try:
            result = command(*given, is_json=False)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        left = [path for path in folder.rglob(".*") if path.name != ".lock"]
        if left:
            raise Nonsense(f"left behind: {left}")
        target = Path(given[-1])
        if result.what == "refused" and target.is_file() and target.read_bytes() != before:
            raise Nonsense(f"a part of a file stands there: {target.stat().st_size} bytes")
        return result

    return call


@kind(0.5)
def pages(rng: Rng, base: Base, folder: Path) -> Call:
    """Any text in a page: it stands there as text, and no part of it becomes HTML or script."""
    marks = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--", "&lt;", "{{ 7*7 }}", "]]>"]
    texts = [f"the [MASK] {pick(rng, [*marks, *NASTY])}".replace("\0", "") for _ in range(int(rng.integers(1, 4)))]
    output = folder / "page.html"

    def call() -> Outcome:
        result = command("page", base.checkpoints["fill-mask"], *texts, "--output", output, is_json=False)
        page = output.read_text(encoding="utf-8") if output.exists() else ""
        if "alert(1)</script>" in page or "<img src=x" in page:
            raise Nonsense("a text has become a part of the page")
        return result

    return call
