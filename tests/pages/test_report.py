"""The report of a run: what is in its files is on the page, as text, whatever the text is."""

import itertools
import re
import shutil
from html.parser import HTMLParser

import pytest

from npbert import BertForSequenceClassification
from npbert.files import FileError
from npbert.pages.html import escape
from npbert.pages.report import pictures, read_run, report_page, write_report
from npbert.pages.report.wrong import wrong_section
from npbert.rows import METRICS_FILE
from tests.pages.runs import METRICS, SHOWN, write_run
from tests.plots.hostile import HOSTILE
from tests.training.tiny import write_checkpoint

for module, extra in (("matplotlib", "plot"), ("tomlkit", "train"), ("tokenizers", "hf")):
    pytest.importorskip(module, reason=f"{module} is not installed: pip install -e '.[{extra}]'")

WANTED = {
    "masked": [
        "What it guesses for hidden words",
        "unable [1] cat",
        "step 10 step 20",
        "1. the dog 50% the: 25% ✓ the 50%",
    ],
    "labels": [
        "Of 1,234 held-out examples, 40 are wrong at step 20. Here are 20 of",
        "first text second text good bad 99%",
    ],
    "numbers": ["Of 1,234 held-out examples, these are furthest off", "far off 5 1.234"],
    "choices": ["ctx r w 50%"],
    "tags": ["true Ann Lee PER sings the model said Ann Lee LOC sings"],
    "answers": ["who? Ann Lee Ann Lee sings 50%", "… then Ann Lee sings again …"],
}


class Page(HTMLParser):
    """Which tags a page has, its attributes, its text, and whether each tag is closed."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.text += [" "] * (tag in ("th", "td", "dt", "dd", "br", "sub"))
        if tag not in ("meta", "br", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "svg"} & set(self.open):
            self.text.append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).split())


def once(make):
    """The same function, which does not make the same figure again."""
    figures = {}

    def made(*values, **options):
        key = repr((values, options))
        if key not in figures:
            figures[key] = make(*values, **options)
        return figures[key]

    return made


MADE_ONCE = {
    name: once(getattr(pictures, name))
    for name in ("plot_confusion", "plot_curves", "plot_layers", "plot_predictions", "plot_update_ratios")
} | {"attention_figure": once(pictures.attention_figure)}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("model"), BertForSequenceClassification)


@pytest.fixture
def run(tmp_path, model, monkeypatch):
    """run(shown=…): the page of a run that has left these files, in a folder with a model. Its pictures are made, the
    same ones once for all tests, but not drawn: both would take most of the time."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model").symlink_to(model)
    stub = '<svg id="{}" aria-label="{}"></svg>'.format
    monkeypatch.setattr("npbert.pages.report.parts.inline_svg", lambda _, name, alt: stub(name, escape(alt)))
    for name, make in MADE_ONCE.items():
        monkeypatch.setattr(pictures, name, make)
    return lambda **files: report_page(read_run(write_run(tmp_path / "run", **files)))


@pytest.mark.parametrize("kind", SHOWN)
def test_what_a_run_has_left_is_on_its_page(run, kind):
    html = run(shown=SHOWN[kind])
    page = Page(html)
    assert page.open == []
    words = page.words
    for wanted in [*WANTED[kind], "It has ended, after 20 steps", "corpus books", "loss 3.25 2.75", "accuracy 0.25 –"]:
        assert wanted in words, wanted
    pictures = 6 + (kind in ("labels", "tags", "numbers"))
    assert page.tags.count("svg") == page.tags.count("figcaption") == pictures
    named = [value for name, value in page.attributes if name == "aria-label"]
    assert len(named) == len(set(named)) == pictures
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert not [
        value for name, value in page.attributes if name in ("src", "href") and not value.startswith(("#", "data:"))
    ]
    assert all(len(caption) > 60 for caption in re.findall("<figcaption>(.*)</figcaption>", html)), (
        "each says how it is read"
    )
    assert "script" not in page.tags


def hostile(value, texts, kept=("kind", "step")):
    """The same with the next of these texts in place of each that a user may have written, but for what is kept."""
    if isinstance(value, dict):
        return {key: each if key in kept else hostile(each, texts, kept) for key, each in value.items()}
    if isinstance(value, list):
        return [hostile(each, texts, kept) for each in value]
    return next(texts) if isinstance(value, str) else value


@pytest.mark.parametrize("kind", SHOWN)
def test_text_shows_as_text(run, kind):
    usual, texts = Page(run(shown=SHOWN[kind])), itertools.cycle([*HOSTILE, "[MASK]"])
    rows = [hostile(row, texts) for _ in range(6) for row in SHOWN[kind]]
    html = run(shown=rows, corpus=["<script>", '"', "\u202e"])
    page = Page(html)
    assert page.open == []
    assert set(page.tags) <= {*usual.tags, "sub", "bdi", "u", "mark", "span", "br"}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    html.encode()
    for text in strings(rows[-1].get("worst", [])):
        shown = re.sub("[\x00-\x08\x0e-\x1f\ud800-\udfff]", "\ufffd", text)
        assert any(" ".join(each.split()) in page.words for each in (shown, f"{shown[:59]}…")), "a long label is cut"


def test_words_of_names_show_as_text():
    """Tags as they should be, so that there are names, of hostile words."""
    for start in range(len(HOSTILE)):
        texts = itertools.cycle([*HOSTILE[start:], *HOSTILE[:start]])
        page = Page(wrong_section(hostile(SHOWN["tags"][0], texts, ("kind", "true", "predicted", "labels"))))
        assert page.open == []
        assert set(page.tags) == {"section", "h2", "p", "dl", "dt", "dd", "mark", "sub", "bdi"}
        assert page.tags.count("mark") == 2


def strings(value):
    """All texts in it that a page shows in one piece."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from strings(each) if key not in ("choices", "excerpt") else ()
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


def test_the_file_has_its_pictures_in_it_and_is_whole_or_not_there(tmp_path, model):
    folder = write_run(tmp_path / "run", shown=SHOWN["labels"])
    (folder / "model").symlink_to(model)
    write_report(folder, tmp_path / "report.html")
    with pytest.raises(FileError):
        write_report(tmp_path, tmp_path / "another.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "run"]
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(html)
    assert page.open == []
    assert page.tags.count("svg") == 7
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    links = [value for name, value in page.attributes if name in ("src", "href")]
    assert all(link.startswith(("#", "data:image/png")) for link in links)
    assert not re.findall(r"https?://(?!www\.w3\.org/)", html)


def test_a_run_that_goes_on_and_has_left_little(run, tmp_path):
    write_run(tmp_path / "young", metrics=METRICS[:1], layers=(), ended=False)
    words = Page(report_page(read_run(tmp_path / "young"))).words  # `run` leaves the pictures out
    assert "It had not ended when this page was made: it was at step 10. It may still be running" in words
    assert "This run wrote nothing down about its layers" in words
    assert "No picture here: no example was written down." in words
    path = tmp_path / "young" / METRICS_FILE
    with path.open("a", encoding="utf-8") as file:
        file.write('{"step": 20, "lo')
    assert read_run(tmp_path / "young").step == 10, "a half line is not there yet"
    write_run(tmp_path / "young", shown=SHOWN["labels"])
    assert "No picture here: no model has been saved yet." in Page(report_page(read_run(tmp_path / "young"))).words


def test_without_the_weights_of_the_model_the_rest_is_there(tmp_path, model):
    folder = write_run(tmp_path / "run", shown=SHOWN["labels"])
    shutil.copytree(model, folder / "model")
    (folder / "model" / "model.safetensors").unlink()
    page = Page(report_page(read_run(folder)))
    assert "No picture here, as the model cannot be read: " in page.words
    assert "has no model.safetensors" in page.words
    assert page.tags.count("svg") == 6


BASELINES = {"loss": 3.125, "accuracy": 0.125}


def test_the_baselines_stand_beside_the_numbers_and_in_the_curves(run):
    shown = [{**SHOWN["masked"][-1], "baselines": BASELINES, "best_step": 10}]
    page = Page(run(shown=shown))
    numbers = "loss 3.25 2.75 3.125 accuracy 0.25 – 0.125"
    assert f"held out step 10 (the best) step 20 knowing frequencies {numbers}" in page.words
    assert "The model in model/ is that of step 10." in page.words
    assert "The rings mark step 10, whose model is the best." in page.words
    assert "The dashed line, the baseline, is what knowing only how frequent words and labels are gives." in page.words
    assert "baseline" not in Page(run(shown=SHOWN["masked"])).words


def test_captions_say_only_what_is_in_their_pictures(run):
    loss = [{"step": 10, "loss": 3.0, "eval_loss": 2.5, "eval_f1": 1.8}]
    words = Page(run(shown=SHOWN["answers"], metrics=loss)).words
    assert "An accuracy is" not in words
    assert "The f1 and the exact match are in percent." in words
    assert "f1 (percent) 1.8" in words
    words = Page(run(shown=SHOWN["labels"])).words
    assert "An accuracy is" in words
    assert "percent" not in words


def test_a_text_from_right_to_left_stays_in_order(run):
    worst = {**SHOWN["answers"][0]["worst"][0], "excerpt": "אחת שתיים שלוש", "true": [0, 3], "predicted": [4, 9]}
    html = run(shown=[{**SHOWN["answers"][0], "worst": [worst]}])
    assert "<bdi>… <mark>אחת</mark> <u>שתיים</u> שלוש …</bdi>" in html


def test_a_long_label_is_cut(run):
    worst = {**SHOWN["labels"][0]["worst"][0], "true": "x" * 10_000}
    html = run(shown=[{**SHOWN["labels"][0], "worst": [worst]}])
    assert f"<bdi>{'x' * 59}…</bdi>" in html
    assert "x" * 60 not in html


def test_what_is_no_run(tmp_path):
    file = tmp_path / "page.html"
    file.touch()
    for folder, message in (
        (tmp_path, "is not the folder of a run: it has no settings.toml; npbert pretrain and npbert finetune make one"),
        (tmp_path / "none", "is not the folder of a run: there is no such folder"),
        (file, "is not the folder of a run: it is a file"),
        (write_run(tmp_path / "run", metrics=()), "metrics.jsonl has no numbers yet: there is nothing to report"),
        (write_run(tmp_path / "b", metrics=[{"step": 1, "loss": "x"}]), "metrics.jsonl: loss is 'x', wanted a number"),
    ):
        with pytest.raises(FileError, match=f"^{re.escape(str(folder))}.*{re.escape(message)}"):
            read_run(folder)


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "another"},
        {},
        {"kind": ["labels"]},
        {"kind": "masked", "sentences": [1]},
        {"kind": "masked"},
        {"kind": "labels", "worst": 1},
        {**SHOWN["labels"][0], "counts": [[1]]},
        {**SHOWN["tags"][0], "worst": [{"words": ["a"], "true": [], "predicted": []}]},
        {**SHOWN["answers"][0], "worst": [{}]},
        {**SHOWN["numbers"][0], "pairs": [["a", "b"]]},
    ],
    ids=range(10),
)
def test_a_row_that_no_run_writes(run, row):
    with pytest.raises(FileError, match=r"run: shown\.jsonl has a row that is not as a run writes it"):
        run(shown=[{"step": 1, **row}])


def test_a_model_that_always_says_the_same(run):
    same = "It gives every example the same label"
    assert same in run(shown=[{**SHOWN["labels"][0], "counts": [[0, 8], [0, 11]]}])
    assert same not in run(shown=SHOWN["labels"])
