"""A vocabulary learned from awkward text: in bounded time, and with one clear error for what cannot be."""

import signal
import subprocess
import sys
import time

import pytest

from npbert import Tokenizer
from npbert.data.learn_vocabulary import LONGEST_WORD

pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")

SENTENCES = "the cat sat on the mat\na dog ran on the road\n" * 3


def learn(folder, text, **options):
    path = folder / "text.txt"
    path.write_text(text, encoding="utf-8")
    return Tokenizer.train([path], **{"vocab_size": 60, **options})


def tokens(tokenizer):
    return tokenizer.decode(range(len(tokenizer)))


@pytest.mark.parametrize("character", ["z", "é", "1"])
def test_words_too_long_for_wordpiece_are_passed_over(tmp_path, character):
    """They would be [UNK] anyway, and a word of 200,000 characters took minutes."""
    start = time.perf_counter()
    learned = learn(tmp_path, SENTENCES + character * 200_000 + "\n" + "yy" * (LONGEST_WORD // 2))
    assert time.perf_counter() - start < 10
    assert {token for token in tokens(learned) if set(token) & set("zeé1y")} <= {"y", "##y", "##yy", "the"} | {
        token for token in tokens(learn(tmp_path, SENTENCES)) if "e" in token
    } | {token for token in tokens(learned) if set(token) <= set("#y")}
    assert any(set(token) == {"#", "y"} for token in tokens(learned)), "a word just short enough"
    assert all(character not in token for token in tokens(learned))


def test_one_long_line_is_as_good_as_many(tmp_path):
    assert tokens(learn(tmp_path, SENTENCES * 300)) == tokens(learn(tmp_path, SENTENCES.replace("\n", " ") * 300))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_frequency": 0}, "min_frequency is 0, wanted a number from 1 to"),
        ({"min_frequency": -1}, "min_frequency is -1"),
        ({"vocab_size": 10**30}, "vocab_size is 1000"),
        ({"vocab_size": -3}, "vocab_size is -3, wanted at least"),
    ],
)
def test_impossible_numbers(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        learn(tmp_path, SENTENCES, **options)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
@pytest.mark.parametrize("seconds", [1.2, 4])
def test_ctrl_c_is_heard_at_once_while_text_is_read_and_while_the_library_learns(tmp_path, seconds):
    path = tmp_path / "text.txt"
    path.write_text(" ".join(f"{number:x}g{number * 7919:o}" for number in range(400_000)))
    script = f"""if True:
        import os, signal, threading, time
        from npbert import Tokenizer
        signal.signal(signal.SIGINT, signal.default_int_handler)

        def interrupt():
            print(time.time(), flush=True)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer({seconds}, interrupt).start()
        Tokenizer.train([{str(path)!r}], vocab_size=30522)
    """
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert b"KeyboardInterrupt" in err and time.time() - float(out) < 2
    assert process.returncode == -signal.SIGINT
