"""`npbert vocab`."""

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    paths[0].write_text("The Café sat on the mat.\nthe café ran\n" * 5, encoding="utf-8")
    paths[1].write_text("dog dog\r\ndog once\r\n", encoding="utf-8", newline="")
    return paths


def tokens(folder):
    return set((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())


def test_vocab(npbert, files, tmp_path):
    """Of files, or of all .txt files of a folder; the same text gives the same files."""
    (tmp_path / "notes.md").write_text("zebra zebra\n", encoding="utf-8")
    written = []
    for name, texts in (("a", files), ("b", [tmp_path])):
        folder = tmp_path / "new" / name
        status, out, err = npbert("vocab", *texts, "--output", folder)
        assert (status, out.decode(), err) == (0, f"{len(tokens(folder))} tokens, from 2 files, in {folder}\n", "")
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1] and written[0].keys() == {"tokenizer.json", "tokenizer_config.json", "vocab.txt"}
    assert {"the", "cafe", "dog"} <= tokens(folder)
    assert not {"The", "Café", "once", "zebra"} & tokens(folder)


def test_options_and_what_is_there_already(npbert, files, tmp_path):
    """A new tokenizer takes the place of an old one only if asked to, and never that of a checkpoint."""
    folder = tmp_path / "new"
    assert npbert("vocab", *files, "--output", folder, "--cased", "--min-frequency", 1).status == 0
    before = tokens(folder)
    assert {"The", "the", "Café", "once"} <= before
    wanted = f"{folder} already has a vocabulary, which models may need; to replace it, give --overwrite"
    small = ("vocab", files[0], "--output", folder, "--size", 32)
    assert npbert(*small).error == wanted and tokens(folder) == before
    assert npbert(*small, "--overwrite").out == f"32 tokens, from 1 file, in {folder}\n".encode()
    assert len(tokens(folder)) == 32
    (tmp_path / "config.json").write_text("{}")
    wanted = f"{tmp_path} has a checkpoint, which needs its vocabulary; choose another folder"
    assert npbert("vocab", *files, "--output", tmp_path, "--overwrite").error == wanted
    assert npbert("vocab", *files, "--output", files[0]).error == f"{files[0]}: File exists"
    assert npbert("vocab", tmp_path / "bad", "--output", folder, "--overwrite").error.endswith(
        "No such file or directory"
    )
