"""A vocabulary learned from awkward text: in bounded time, and with one clear error for what cannot be."""

import json
import os
import subprocess
import sys

import pytest

from npbert import Tokenizer
from npbert.data.learn_vocabulary import _PARTS, LONGEST_WORD

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")

SENTENCES = "the cat sat on the mat\na dog ran on the road\n" * 3


def learn(folder, text, **options):
    path = folder / "text.txt"
    path.write_text(text, encoding="utf-8")
    return Tokenizer.train([path], **{"vocab_size": 60, **options})


def tokens(tokenizer):
    return tokenizer.decode(range(len(tokenizer)))


@pytest.mark.parametrize("character", ["z", "é", "1"])
def test_words_too_long_for_wordpiece_are_passed_over(tmp_path, character, monkeypatch):
    """They would be [UNK] anyway, and a word of 200,000 characters took minutes."""
    given, learn_from = [], tokenizers.BertWordPieceTokenizer.train_from_iterator

    def note(library, texts, **options):
        given.extend(texts)
        return learn_from(library, given, **options)

    monkeypatch.setattr(tokenizers.BertWordPieceTokenizer, "train_from_iterator", note)
    learned = learn(tmp_path, SENTENCES + character * 200_000 + "\n" + "yy" * (LONGEST_WORD // 2))
    assert max(len(word) for text in given for word in text.split()) == LONGEST_WORD
    assert any(set(token) == {"#", "y"} for token in tokens(learned)), "a word just short enough"
    assert all(character not in token for token in tokens(learned))


def test_one_long_line_is_as_good_as_many(tmp_path):
    assert tokens(learn(tmp_path, SENTENCES * 300)) == tokens(learn(tmp_path, SENTENCES.replace("\n", " ") * 300))


def test_a_text_without_spaces_is_read_in_parts():
    """Four million Chinese characters, each a word, took 2.6 GB at once. A word is never cut in two."""
    text = "漢字かな" * 30_000 + "x" * 20_000 + "漢"
    parts = _PARTS.findall(text)
    assert "".join(parts) == text
    assert [len(part) for part in parts if len(part) > 10_000] == [20_004]
    assert all(part[0] in "漢字" for part in parts)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
@pytest.mark.parametrize(
    ("when", "words"), [("it begins", 20_000), ("text is read", 20_000), ("the library learns", 100_000)]
)
def test_ctrl_c_is_heard_while(when, words, tmp_path):
    """The rest of the text is not read, and the library, which needs seconds to learn, is not waited for."""
    path = tmp_path / "text.txt"
    path.write_text(" ".join(f"{number:x}g{number * 7919:o}" for number in range(words)))
    command = [sys.executable, "-c", INTERRUPTED, when, path]
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false"}
    process = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert (process.returncode, process.stderr) == (130, "\nstopped\n")
    read, is_done = json.loads(process.stdout)
    if when == "the library learns":
        assert read > 100 and not is_done
    else:
        assert read == 3


INTERRUPTED = """
import json, os, signal, sys, threading
from tokenizers import BertWordPieceTokenizer
from npbert.cli import main
from npbert.data.learn_vocabulary import THREAD

when, path = sys.argv[1:]
heard, done, read, leave = threading.Event(), threading.Event(), 0, os._exit

def hear(*_):
    heard.set()
    raise KeyboardInterrupt

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    heard.wait(60)

def train(library, texts, *, learn=BertWordPieceTokenizer.train_from_iterator, **options):
    try:
        learn(library, watched(texts), **options)
    finally:
        done.set()

def watched(texts):
    global read
    for text in texts:
        read += 1
        if read == 3 and when != "the library learns":
            interrupt()
            texts.gi_frame.f_locals.get("stop", heard).wait(60)  # however long the other thread takes
        yield text
    if when == "the library learns":
        interrupt()

def report(status):
    if when != "the library learns":
        done.wait(200)
    print(json.dumps([read, done.is_set()]), flush=True)
    leave(status)

def start(thread, *, begin=threading.Thread.start):
    begin(thread)
    if thread.name == THREAD and when == "it begins":
        done.wait(200)

signal.signal(signal.SIGINT, hear)
threading.Thread.start = start
BertWordPieceTokenizer.train_from_iterator, os._exit = train, report
status = main(["vocab", path, "--output", f"{path}.folder"])
assert THREAD not in [thread.name for thread in threading.enumerate()], "Python would end it within the library"
report(status)
"""
