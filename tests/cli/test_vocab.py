"""`npbert vocab`."""

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")

TEXT = "The Café sat on the mat.\nthe café ran\n" * 5


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    paths[0].write_text(TEXT, encoding="utf-8")
    paths[1].write_text("dog dog\r\ndog once\r\n", encoding="utf-8", newline="")
    return paths


def tokens(folder):
    return (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()


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
    assert {"the", "cafe", "dog"} <= set(tokens(folder))
    assert not {"The", "Café", "once", "zebra"} & set(tokens(folder))


def test_options(npbert, files, tmp_path):
    """A new tokenizer takes the place of an old one, without a rest of it."""
    folder = tmp_path / "new"
    assert npbert("vocab", *files, "--output", folder, "--cased", "--min-frequency", 1).status == 0
    assert {"The", "the", "Café", "once"} <= set(tokens(folder))
    before = (folder / "tokenizer.json").read_bytes()
    wanted = f"{folder} already has a vocabulary, which models may need; to replace it, give --overwrite"
    assert npbert("vocab", files[0], "--output", folder, "--size", 32).error == wanted
    assert (folder / "tokenizer.json").read_bytes() == before
    out = npbert("vocab", files[0], "--output", folder, "--size", 32, "--overwrite").out
    assert out.endswith(f"from 1 file, in {folder}\n".encode())
    assert len(tokens(folder)) == 32


def test_errors(npbert, files, tmp_path):
    bad = tmp_path / "bad"
    assert npbert("vocab", files[0], bad, "--output", tmp_path / "out").error == f"{bad}: No such file or directory"
    assert npbert("vocab", *files, "--output", tmp_path / "out", "--size", 20).error.startswith(
        "vocab_size is 20, wanted at least "
    )
    assert npbert("vocab", *files, "--output", files[0]).error == f"{files[0]}: File exists"
    assert npbert("vocab", *files, "--output", files[0] / "new").error == f"{files[0] / 'new'}: Not a directory"
    assert files[0].read_text(encoding="utf-8") == TEXT
    (tmp_path / "config.json").write_text("{}")
    wanted = f"{tmp_path} has a checkpoint, which needs its vocabulary; choose another folder"
    assert npbert("vocab", *files, "--output", tmp_path).error == wanted
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "one.txt", "two.txt"]
