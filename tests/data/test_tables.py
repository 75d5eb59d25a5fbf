"""Tables: columns by number and by name, and the place of every row that is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert.data.tables import Row, read_table
from npbert.files import FileError
from tests.shared_data import shared_data


def read(folder, name, content, columns, **options):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, columns, **options)


@pytest.mark.parametrize(
    ("name", "content", "columns", "rows"),
    [
        ("a.tsv", "x\t1\ny\t2\n", "10", [("1", "x"), ("2", "y")]),
        ("a.tsv", "x\t1\ny\t2", "10", [("1", "x"), ("2", "y")]),
        ("a.tsv", "x\t1\r\ny\t2\r\n", "10", [("1", "x"), ("2", "y")]),
        ("a.tsv", "\nx\t1\n\n\ny\t2\n\n", "0", [("x",), ("y",)]),
        ("a.tsv", b"\xef\xbb\xbftext\tlabel\nx\t1\n", ["text"], [("x",)]),
        ("a.tsv", "x\t1\tmore\ny\t2\n", "1", [("1",), ("2",)]),
        ("a.tsv", "x\t\n", "01", [("x", "")]),
        ("a.tsv", "text\tlabel\nx\t1\n", ["label", "text"], [("1", "x")]),
        ("a.tsv", "text\tlabel\nx\t1\n", ["label", "0"], [("1", "x")]),
        ("a.tsv", "text\tlabel\nx\t1\n", "10", [("label", "text"), ("1", "x")]),
        ("a.tsv", '"x\t1\n"y"\t2\n\'"\t3\n', "01", [('"x', "1"), ('"y"', "2"), ("'\"", "3")]),
        ("a.tsv", "x, y\t1\n", "0", [("x, y",)]),
        ("a.tsv", "x\u2028y\x0b\x85z\t1\n", "0", [("x\u2028y\x0b\x85z",)]),
        ("a.csv", 'text,label\n"x, y",1\nz,2\n', ["text", "label"], [("x, y", "1"), ("z", "2")]),
        ("a.csv", '"say ""hi""",1\n', "0", [('say "hi"',)]),
        ("a.csv", '"two\nlines",1\nz,2\n', "01", [("two\nlines", "1"), ("z", "2")]),
        ("a.csv", '"two\r\n\r\nlines",1\r\n', "01", [("two\n\nlines", "1")]),
        ("a.csv", "x\t1\n", "0", [("x\t1",)]),
        ("a.txt", "x\t1\n", "1", [("1",)]),
        ("a.jsonl", '{"t": "x", "l": 1}\n\n{"l": 0.5, "t": "y"}', "lt", [("1", "x"), ("0.5", "y")]),
        ("a.json", '{"t": "x\\ny"}\r\n', "t", [("x\ny",)]),
        ("a.ndjson", '{"0": "by name"}\n', "0", [("by name",)]),
    ],
)
def test_values(tmp_path, name, content, columns, rows):
    assert [row.values for row in read(tmp_path, name, content, list(columns))] == rows


def test_the_delimiter_outdoes_the_ending(tmp_path):
    assert read(tmp_path, "a.csv", '"x, y\t1\n', ["0"], delimiter="tab")[0].values == ('"x, y',)
    assert read(tmp_path, "a.tsv", '"x,\t y",1\n', ["0"], delimiter="comma")[0].values == ("x,\t y",)
    assert read(tmp_path, "a.json", "x\t1\n", ["1"], delimiter="tab")[0].values == ("1",)


@pytest.mark.parametrize(
    ("name", "content", "columns", "places"),
    [
        ("a.tsv", "text\n\nx\ny\n", ["text"], [("x", 3), ("y", 4)]),
        ("a.tsv", "\n\nx\n", ["0"], [("x", 3)]),
        ("a.csv", '"two\nlines",1\nz,2\n', ["0"], [("two\nlines", 2), ("z", 3)]),  # where the row ends
        ("a.jsonl", '\n{"t": 1}\n', ["t"], [("1", 2)]),
    ],
)
def test_places(tmp_path, name, content, columns, places):
    wanted = [Row((text,), f"{tmp_path / name}, line {number}") for text, number in places]
    assert read(tmp_path, name, content, columns) == wanted


@pytest.mark.parametrize(
    ("name", "content", "columns", "message"),
    [
        ("a.tsv", "x\t1\ny\n", "01", "a.tsv, line 2: 1 columns, wanted at least 2"),
        ("a.csv", 'a,b\n"x\ny",1\nz\n', "ab", "a.csv, line 4: 1 columns, wanted at least 2"),
        ("a.tsv", "x\t1\n", "7", "a.tsv, line 1: 2 columns, wanted at least 8$"),
        ("a.csv", "x\t1\n", "1", r"line 1: 1 columns, wanted at least 2 \(separated by tabs\? --delimiter tab\)$"),
        ("a.tsv", "text\tlabel\nx\t1\n", ["texts"], "line 1: there is no column 'texts', only 'text', 'label'"),
        ("a.tsv", "x\t1\n", ["-1"], "line 1: there is no column '-1'"),
        ("a.tsv", "", "0", "a.tsv is empty: it has no rows"),
        ("a.tsv", "\n\r\n\n", "0", "a.tsv is empty"),
        ("a.tsv", "text\tlabel\n", ["text"], "a.tsv is empty"),
        ("a.jsonl", "\n", "t", "a.jsonl is empty"),
        ("a.tsv", b"fine\nZo\xeb\n", "0", r"a.tsv, line 2: byte 7 \(0xeb\) is not UTF-8"),
        ("a.tsv", b"\xef\xbb\xbffine\n\nZo\xeb\n", "0", r"a.tsv, line 3: byte 8 \(0xeb\) is not UTF-8"),
        ("a.csv", 'x,1\n"y,2\nz,3\n', "0", "a.csv, line 3: unexpected end of data"),
        ("a.csv", 'x,1\n"y"z,2\n', "0", "a.csv, line 2: ',' expected after '\"'"),
        ("a.jsonl", '{"t": 1}\n{"t": }\n', "t", "a.jsonl, line 2: no valid JSON: Expecting value"),
        ("a.jsonl", '{"t": 1}\n{"u": 1}\n', "tu", "a.jsonl, line 1: wanted a JSON object with 'u'"),
        ("a.jsonl", '{"u": 1}\n', "tl", "line 1: wanted a JSON object with 't', 'l'"),
        ("a.jsonl", '{"t": null}\n', "t", "line 1: wanted a JSON object with 't'"),
        ("a.jsonl", '["t"]\n', "t", "line 1: wanted a JSON object with 't'"),
    ],
)
def test_errors(tmp_path, name, content, columns, message):
    with pytest.raises(FileError, match=message):
        read(tmp_path, name, content, list(columns))


def test_another_delimiter_and_no_file(tmp_path):
    with pytest.raises(ValueError, match="delimiter is ';', wanted tab or comma"):
        read(tmp_path, "a.csv", "x;1\n", ["0"], delimiter=";")
    with pytest.raises(FileNotFoundError, match=r"none\.tsv"):
        read_table(tmp_path / "none.tsv", ["0"])


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n\t"), min_size=1)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=5))
def test_any_text_comes_back(tmp_path_factory, rows):
    tabs = "".join("\t".join(row) + "\n" for row in rows)
    commas = "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in rows)
    objects = "".join(json.dumps(dict(zip("abc", row, strict=True)), ensure_ascii=False) + "\n" for row in rows)
    for name, content, columns in (("x.tsv", tabs, "012"), ("x.csv", commas, "012"), ("x.jsonl", objects, "abc")):
        marked = "\ufeff" + content  # or a first cell that begins with one would lose it
        assert [row.values for row in read(tmp_path_factory.getbasetemp(), name, marked, list(columns))] == rows


@pytest.mark.parametrize(
    ("file", "delimiter", "columns", "count", "first", "labels"),
    [
        ("cola/in_domain_train.tsv", "", "13", 8551, "Our friends won't buy this analysis, let alone", "01"),
        ("stsb/sts-train.csv", "tab", "456", 5749, "A plane is taking off.", None),
    ],
)
def test_real_tables(file, delimiter, columns, count, first, labels):
    rows = read_table(shared_data() / file, list(columns), delimiter=delimiter)
    assert len(rows) == count
    assert rows[0].values[1].startswith(first)
    assert rows[-1].place.endswith(f"{file.rpartition('/')[2]}, line {count}")
    found = {row.values[0] for row in rows}
    assert found == set(labels) if labels else all(0 <= float(score) <= 5 for score in found)
    assert labels or any(text.count('"') % 2 for row in rows for text in row.values), "quotes are text"
