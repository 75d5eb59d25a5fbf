"""A model for the tests of the page "Follow one number back", smaller than any that is shown, and its page."""

from npbert import BertForMaskedLM
from npbert.pages.number.export import export
from tests.pages.models import example, make_model, size

VOCABULARY = [
    *["[PAD]", "[CLS]", "[SEP]", "[MASK]", "how", "are", "you", "hello", "i", "am", "well", "where"],
    "<script>alert(1)</script>",
    "\"'&",
]
HOSTILE = VOCABULARY[-2:]
EXAMPLES = [
    example(text, VOCABULARY)
    for text in ("how are [you] how", "i [am] [well]", f"{HOSTILE[0]} are [{HOSTILE[0]}] {HOSTILE[1]}", "hello [you]")
]


def exported():
    """The data of the page, of a model of one layer, 4 wide."""
    model = make_model(BertForMaskedLM, 3, vocab_size=len(VOCABULARY), max_position_embeddings=8, **size(4, 2, 1, 6))
    return export(model, EXAMPLES, VOCABULARY)


# -- in the browser


def number(text):
    """A number as the page writes it."""
    return float(text.replace("\u2212", "-").replace("\xa0%", ""))


GO = "history.replaceState(null, '', `#${hash}`); dispatchEvent(new Event('hashchange'));"


def go(page, address):
    """To an address of the page, without loading it again."""
    page.evaluate(f"hash => {{ {GO} }}", address)


def found_at(page, addresses, expression):
    """What an expression is at each address. Nothing is laid out meanwhile, which is slow."""
    each = f"hashes.map(hash => {{ {GO} return {expression}; }})"
    hide, show = (f"document.body.hidden = {value};" for value in ("true", "false"))
    return page.evaluate(f"hashes => {{ {hide} const found = {each}; {show} return found; }}", addresses)


def until(page, condition, arg=None):
    """Wait for it, but look ten times a second only: at every picture, all is painted in the meantime."""
    page.wait_for_function(condition, arg=arg, polling=100)


def press(page, selector):
    """Click, but do not scroll there and look what is above it, which is slow, too."""
    page.locator(selector).first.dispatch_event("click")


TRACE, STEP = "npbert.state.trace", "npbert.state.step"
LAYER = "bert.encoder.layers.0"
DENSE = "predictions.dense.weight"
TABLE = "bert.embeddings.word_embeddings.weight"


def go_to(page, condition, last=""):
    """To the first step, or with "Last" to the last one, of which this is true: `s.kind === 'Linear'`."""
    page.evaluate(f"npbert.goToStep({TRACE}.steps.find{last}Index(s => {condition}))")


def box(page, selector):
    """Where something is in the window: its left, right, top and bottom."""
    return page.evaluate("what => document.querySelector(what).getBoundingClientRect().toJSON()", selector)


def choose(page, name, row, column):
    page.evaluate(f"npbert.choose({{name: '{name}', row: {row}, column: {column}}})")


def plant(page, bug):
    press(page, "#tab-break")
    page.check(f"input[value='{bug}']")


QUERY = f"{LAYER}.attention.query"
CHOSEN = "npbert.state.chosen"
FOCUS = "Object.values(document.activeElement.dataset).map(Number)"
SCORES = "s.phase === 'backward' && s.kind === 'Softmax'"
FORK = "s.phase === 'backward' && s.kind === 'Fork'"


def cell(name, row, column):
    return f'#stage table[data-array="{name}"] td[data-row="{row}"][data-column="{column}"]'


def value(page, name, row, column):
    return page.evaluate(f"{TRACE}.arrays.get('{name}').at({row}, {column})")
