"""README and the pages in docs/: their code runs from top to bottom as it stands there, and prints what they say."""

import inspect
import linecache
import re
import textwrap
import traceback
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import npbert
from npbert import BertConfig, BertForPreTraining, BertForQuestionAnswering, Tokenizer
from npbert.training.tasks import TASKS
from tests.tables import one_in

PACKAGE = Path(npbert.__file__).parent
ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
CHAPTERS = sorted(DOCS.glob("[0-9][0-9]-*.md"))
OTHERS = ("symbols", "own_head", "vectors", "check_your_own", "scaling", "platforms", "see", "coming_from", "in_short")
PAGES = [*CHAPTERS, *(DOCS / f"{name}.md" for name in OTHERS)]
README, COMMANDS, MAP = ROOT / "README.md", DOCS / "commands.md", DOCS / "map.md"
BLOCK = re.compile(r"^```(python|text|diff|\w*) ?(\S*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[([^]]*)\]\(([^)]*)\)")
NEEDS = {"": [], "plot": ["matplotlib"], "hf": ["safetensors", "tokenizers"]}
NEEDS["train"] = [*NEEDS["hf"], "tensorboard", "matplotlib", "tomlkit", "filelock", "tqdm"]
NEEDS["sklearn"] = [*NEEDS["train"], "sklearn"]
NUMBER = re.compile(r"\d[\d,]*\.?\d*")


def there(name):
    """The path of a file of the project; npbert itself may be installed elsewhere."""
    path = (ROOT / name).resolve()
    inside = path.relative_to(ROOT.resolve()) if path.is_relative_to(ROOT.resolve()) else path
    return PACKAGE.parent / inside if inside.parts[0] == "npbert" else path


chapters = pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)


@pytest.fixture(autouse=True)
def print_options():
    """What a page sets for printing ends with its test."""
    with np.printoptions():
        yield


def read(page):
    return page.read_text(encoding="utf-8")


def is_printed(shown, line):
    """The same words, whole numbers the same, and others but for 2 in the last digit, or in the tenth.

    "…" at the end of what is shown stands for the rest of the line.
    """
    if shown.endswith(" …"):
        *begin, _ = shown.split()
        shown, line = " ".join(begin), " ".join(line.split()[: len(begin)])
    if NUMBER.sub("#", shown) != NUMBER.sub("#", line):
        return False
    for wanted, got in zip(NUMBER.findall(shown), NUMBER.findall(line), strict=True):
        digits = len(wanted.partition(".")[2])
        wanted, got = (float(number.replace(",", "")) for number in (wanted, got))
        if abs(wanted - got) > (max(2.001 * 10**-digits, 2e-9 * abs(wanted)) if digits else 0):
            return False
    return True


def check_shown(content, out):
    """Each line that is shown is printed, in this order; a line "…" leaves some out."""
    printed, may_skip = [line.strip() for line in out.splitlines() if line.strip()], False
    for shown in filter(None, map(str.strip, content.splitlines())):
        if shown == "…":
            may_skip = True
            continue
        at = next((at for at, line in enumerate(printed) if is_printed(shown, line)), None)
        assert at is not None, f"{shown}\nis not in\n{out}"
        assert at == 0 or may_skip, f"what is left out before {shown} is not marked by …, of\n{out}"
        printed, may_skip = printed[at + 1 :], False
    assert not printed or may_skip, f"what is left out at the end is not marked by …, of\n{out}"


def write_what_examples_read():
    Path("train.tsv").write_text(
        "good\tthe man went to the store. it was written by ada in 1843.\nbad\tor a pair.\n" * 4
    )
    Path("dev.tsv").write_text("bad\tto man the.\ngood\tthe man went.\n")
    tokenizer = Tokenizer.train(["train.tsv"], vocab_size=200)
    config = BertConfig.preset("bert-tiny", vocab_size=len(tokenizer))
    heads = {
        **dict.fromkeys(("my-bert", "toy", "run/model"), BertForPreTraining),
        "squad-folder": BertForQuestionAnswering,
    }
    for folder, head in heads.items():
        tokenizer.save_pretrained(folder)
        head(config, rng=np.random.default_rng(0)).save_pretrained(folder)


@pytest.mark.parametrize("page", [README, *one_in(3, [*PAGES, COMMANDS, MAP])], ids=lambda page: page.stem)
def test_the_code_on_a_page_prints_what_the_page_says(page, tmp_path, monkeypatch, capsys):
    """In the order of the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TASKS, "stars", None)  # which a page adds, and no other test should see
    del TASKS["stars"]
    names, out = {}, ""
    text = read(page)
    for block in BLOCK.finditer(text):
        kind, extra, content = block.groups()
        if kind == "text" and out is not None:
            check_shown(content, out)
        elif kind == "diff":
            out = None  # what comes next is printed by a changed npbert
        elif kind == "python" and extra in NEEDS:
            for library in NEEDS[extra]:
                pytest.importorskip(library, reason=f"{library} is not installed: pip install 'npbert[{extra}]'")
            if page in (README, COMMANDS) and extra:
                write_what_examples_read()
            code = "\n" * text.count("\n", 0, block.start(3)) + content  # an error gives the line of the page
            exec(compile(code, str(page), "exec"), names)
            out = capsys.readouterr().out
            assert all(f"{line}\n" in out for line in re.findall("^# (PASS: .*)", content, re.MULTILINE))


def changes():
    """(the block before, the file, the change, what is shown) of each change that a chapter has one try."""
    cases = []
    for page in CHAPTERS:
        blocks = [block.groups() for block in BLOCK.finditer(read(page))]
        code = ""
        for (kind, extra, content), (next_kind, _, shown) in zip(blocks, [*blocks[1:], ("", "", "")], strict=True):
            if kind == "python" and extra in NEEDS:
                code = content
            if kind == "diff":
                assert next_kind == "text", f"{page.name}: a change without what it brings about"
                cases.append((f"{page.stem[:2]}-{Path(extra).stem}", code, extra, content, shown))
    return one_in(7, cases)


def functions_in(code, around=""):
    """By its qualified name, the code of each function and method in a compiled file."""
    for constant in filter(inspect.iscode, code.co_consts):
        yield around + constant.co_name, constant
        yield from functions_in(constant, f"{around}{constant.co_name}.")


@pytest.mark.parametrize(("case", "code", "file", "change", "shown"), changes())
def test_a_change_to_try_brings_about_what_the_page_says(case, code, file, change, shown, monkeypatch, capsys):
    """The block before it, run with the function that is changed."""
    before, after = (
        "".join(line[1:] for line in change.splitlines(keepends=True) if line[0] in marks) for marks in ("- ", "+ ")
    )
    path = str(there(file))
    source = read(there(file))
    assert source.count(before) == 1
    made = functions_in(compile(source.replace(before, after), path, "exec"))
    things = vars(import_module(file.removesuffix(".py").replace("/", "."))).values()
    functions = [each for thing in things for each in (thing, *getattr(thing, "__dict__", {}).values())]
    there_now = {each.__qualname__: each for each in functions if inspect.isfunction(each)}
    for name, code_made in made:  # all of them, as the lines below the change have other numbers
        if name in there_now and there_now[name].__code__.co_filename == path:
            monkeypatch.setattr(there_now[name], "__code__", code_made)
    changed = source.replace(before, after).splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, path, (len(source), None, changed, path))
    try:
        exec(compile(code, "page.py", "exec"), {})
    except Exception:
        print(traceback.format_exc())
    check_shown(shown, capsys.readouterr().out)


@chapters
def test_what_is_quoted_from_npbert_stands_there(page):
    """Line by line; a line "…" leaves some out."""
    for kind, file, content in BLOCK.findall(read(page)):
        if kind == "python" and file not in NEEDS:
            source = read(there(file))
            for part in re.split(r"^ *…\n", content, flags=re.MULTILINE):
                part = textwrap.dedent(part)
                indents = {re.match(" *", line).group() for line in source.splitlines()}
                assert any(textwrap.indent(part, indent) in source for indent in indents), f"not in {file}:\n{part}"
            assert f"](../{file})" in read(page), f"{file} is quoted, but not linked"


@chapters
def test_decimal_numbers_in_the_text_are_printed_on_the_page(page):
    outputs = " ".join(content for kind, _, content in BLOCK.findall(read(page)) if kind == "text")
    in_text = re.findall(r"(?<![\w.])\d[\d,]*\.\d+", BLOCK.sub("", read(page)))
    printed = set(re.findall(r"(?<![\w.])\d[\d,]*\.\d+", outputs))
    assert [number for number in in_text if number not in printed] == []
