"""The pages in docs/: their code runs from top to bottom as it stands there, and prints what they say."""

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parent.parent / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(python|text) ?(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NEEDS = {"": [], "hf": ["safetensors", "tokenizers"]}
NEEDS["train"] = [*NEEDS["hf"], "tensorboard", "matplotlib", "tomlkit", "filelock", "tqdm"]
NUMBER = re.compile(r"\d[\d,]*\.?\d*")


def is_printed(shown, line):
    """The same words, whole numbers the same, and others but for 2 in the last digit."""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", line):
        return False
    for wanted, got in zip(NUMBER.findall(shown), NUMBER.findall(line), strict=True):
        digits = len(wanted.partition(".")[2])
        if abs(float(wanted.replace(",", "")) - float(got.replace(",", ""))) > (2.001 * 10**-digits if digits else 0):
            return False
    return True


@pytest.mark.filterwarnings("ignore:not from .* but new")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_on_a_page_prints_what_the_page_says(page, tmp_path, monkeypatch, capsys):
    """In the order of the page; what it does not show may be printed in between."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("npbert.training.trainer.plot_curves", lambda *_: None)
    names, out = {}, iter(())
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        kind, extra, content = block.groups()
        if kind == "text":
            for shown in content.splitlines():
                assert any(is_printed(shown.strip(), line.strip()) for line in out), shown  # `any` moves on
            continue
        for library in NEEDS[extra]:
            pytest.importorskip(library, reason=f"{library} is not installed: pip install 'npbert[{extra}]'")
        code = "\n" * text.count("\n", 0, block.start(3)) + content  # an error gives the line of the page
        exec(compile(code, str(page), "exec"), names)
        out = iter(capsys.readouterr().out.splitlines())
