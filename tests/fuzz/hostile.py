"""Cases around the files: parts of tokenizers, links, files that are far too large, full disks, texts in a page."""

import json
import resource
from pathlib import Path
from typing import Any

from tests.fuzz.base import Base
from tests.fuzz.kinds import Call, kind, use
from tests.fuzz.mutate import DEEP, NASTY, Rng, pick, spoil
from tests.fuzz.outcome import Nonsense, Outcome, command

SPECIAL = ("/dev/zero", "/dev/full", "/dev/null", "/proc/self/mem", "/dev/stdin", "missing", ".")
PIECES: dict[str, list[dict[str, Any]]] = {
    "normalizer": [
        *({"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")),
        {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True},
        {"type": "Replace", "pattern": {"Regex": "(a|a)*b"}, "content": "a" * 100},
        {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"},
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Precompiled", "precompiled_charsmap": "AAAA"},
    ],
    "pre_tokenizer": [
        *({"type": name} for name in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts")),
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        {"type": "CharDelimiterSplit", "delimiter": "a"},
        {"type": "Punctuation", "behavior": "Isolated"},
        {"type": "Digits", "individual_digits": True},
        {"type": "FixedLength", "length": 0},
        {"type": "Split", "pattern": {"Regex": "(?=a)"}, "behavior": "MergedWithNext", "invert": False},
    ],
    "post_processor": [
        {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        {"type": "RobertaProcessing", "sep": ["x", 9], "cls": ["y", 9], "trim_offsets": True, "add_prefix_space": True},
        {"type": "TemplateProcessing", "single": [], "pair": [], "special_tokens": {}},
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    ],
    "truncation": [{"direction": "Left", "max_length": 3, "strategy": "LongestFirst", "stride": 2}],
    "padding": [
        {"strategy": {"Fixed": 10**6}, "direction": "Left", "pad_token": "[PAD]"}
        | dict.fromkeys(("pad_to_multiple_of", "pad_id", "pad_type_id"), 0)
    ],
}


@kind(3)
def tokenizer_parts(rng: Rng, base: Base, folder: Path) -> Call:
    """A tokenizer.json whose parts are others than a BERT's, one or several in a row, right or slightly wrong."""
    name, copy = base.copy_of_one(rng, folder)
    path = copy / "tokenizer.json"
    value = json.loads(path.read_bytes())
    lists = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "post_processor": "processors"}
    for part in rng.choice(list(PIECES), int(rng.integers(1, 4)), replace=False).tolist():
        pieces = [dict(pick(rng, PIECES[part])) for _ in range(int(rng.integers(1, 4)))]
        for piece in pieces:
            if rng.random() < 0.3:
                piece[pick(rng, list(piece))] = pick(rng, NASTY)
        value[part] = {"type": "Sequence", lists[part]: pieces} if part in lists and len(pieces) > 1 else pieces[0]
    path.write_text(json.dumps(value), encoding="utf-8", errors="replace")
    if rng.random() < 0.7:  # else BERT's parts come in the place of these
        config = {"tokenizer_class": "PreTrainedTokenizerFast"}
        (copy / "tokenizer_config.json").write_text(json.dumps(config))
    return lambda: use(name, copy)


FLAGS = {"content": "[MASK]", "lstrip": True, "normalized": False, "special": True}
SETTINGS: dict[str, Any] = {
    "tokenizer_config.json": {
        "do_lower_case": True,
        "strip_accents": None,
        "truncation_side": "left",
        "cls_token": "[CLS]",
        "mask_token": FLAGS,
        "extra_special_tokens": ["cat", FLAGS],
        "added_tokens_decoder": {"4": FLAGS, "5": {**FLAGS, "content": "the"}},
        "model_input_names": ["input_ids"],
    },
    "special_tokens_map.json": {"sep_token": "[SEP]", "additional_special_tokens": ["cat"], "unk_token": FLAGS},
    "added_tokens.json": {"cat": 5},
}


@kind(2)
def tokenizer_settings(rng: Rng, base: Base, folder: Path) -> Call:
    """Some of the files beside a tokenizer.json, or beside a vocab.txt, spoiled."""
    name, copy = base.copy_of_one(rng, folder)
    for file, settings in SETTINGS.items():
        kept = {key: value for key, value in settings.items() if rng.random() < 0.5}
        (copy / file).write_text(json.dumps(kept))
        if rng.random() < 0.5:
            spoil(rng, copy / file)
    if rng.random() < 0.4:
        (copy / "tokenizer.json").unlink()
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
    """Files and lines that are far larger than anybody's."""
    file = folder / "large"
    what = int(rng.integers(5))
    if what < 2:
        word = pick(rng, ["the cat sat ", "a", "[MASK] ", "é\u0301", "\t", "漢", '"'])
        file.write_text(word * (1_000_000 // len(word)), encoding="utf-8")
        if what == 0:
            name = pick(rng, ["embed", "fill-mask", "classify", "tag"])
            return lambda: command(name, base.checkpoints[name], file)
        return lambda: command("vocab", file, "--output", folder / "v", "--size", "60", is_json=False)
    name = pick(rng, ["classify", "tag", "embed"])
    copy = base.copy(base.checkpoints[name], folder)
    path = copy / ("config.json" if what == 2 else "tokenizer.json")
    value = json.loads(path.read_bytes())
    if what == 2:
        value["id2label"] = {str(number): f"label {number % 1000}" for number in range(100_000)}
    elif what == 3:
        value["added_tokens"] += [{**value["added_tokens"][0], "id": i, "content": f"<{i}>"} for i in range(9, 20_000)]
    path.write_text(DEEP * 200 if what == 4 else json.dumps(value), encoding="utf-8")
    return lambda: use(name, copy)


@kind(0.7)
def full_disk(rng: Rng, base: Base, folder: Path) -> Call:
    """No file may grow beyond a limit. What was there before is there afterwards, or the new file as a whole."""
    output, before = folder / "output", b"from before\n"
    embed = ["embed", base.checkpoints["embed"], base.corpus, "--output", output]
    run = base.copy(base.run, folder)
    given = pick(
        rng,
        [
            embed,
            [*embed[:-1], f"{output}.npy"],
            ["plot", "curves", run, "--output", f"{output}.svg"],
            ["vocab", base.corpus, "--output", output, "--size", "60"],
            ["pretrain", run, "--resume", "--steps", "6"],
            ["page", base.checkpoints["fill-mask"], "the [MASK]", "--output", output],
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
    texts = [
        f"the [MASK] {pick(rng, [*marks, *map(str, NASTY)])}".replace("\0", "") for _ in range(int(rng.integers(1, 4)))
    ]
    output = folder / "page.html"

    def call() -> Outcome:
        result = command("page", base.checkpoints["fill-mask"], *texts, "--output", output, is_json=False)
        page = output.read_text(encoding="utf-8") if output.exists() else ""
        if "alert(1)</script>" in page or "<img src=x" in page:
            raise Nonsense("a text has become a part of the page")
        return result

    return call
