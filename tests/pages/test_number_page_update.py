"""The last step of the page: the update, from a weight's new value back to the gradients of the batch."""

import pytest

from tests.pages.number import DENSE, EXAMPLES, LAYER, STEP, TRACE, go_to, number

QUERY = f"{LAYER}.attention.query.weight"
CHOSEN = "npbert.state.chosen"
VALUE = f"(({{name, row, column}}) => {TRACE}.arrays.get(name).tensor.at(row, column))"


def new_values(page):
    return page.evaluate(
        f"Object.fromEntries({TRACE}.update.parameters.map(p => [p, [...{TRACE}.arrays.get(`new(${{p}})`).values]]))"
    )


def values(page):
    return page.evaluate("Object.fromEntries([...npbert.state.model.parameters].map(([p, {re}]) => [p, [...re]]))")


def test_the_last_step_is_the_update_and_leads_from_new_to_the_gradient_of_a_sentence(page):
    page.keyboard.press("End")
    count = page.evaluate(f"{TRACE}.steps.length")
    assert page.inner_text("#step-count") == f"{count} / {count}"
    assert page.inner_text(".phase") == page.inner_text("#map .here") == "update"
    assert "m_hat = m / (1 - beta1**t)" in page.inner_text("#source details[open]")
    page.select_option("#parameter", QUERY)
    page.click(f'#stage table[data-array="new({QUERY})"] td[data-row="1"][data-column="2"]')
    assert page.locator("#followed .bar-label").all_inner_texts() == ["old", "decay", "against the gradient"]
    for factor, name in (("m̂", "m_hat"), (None, "m"), ("g[", "g")):
        page.click(f"#followed .factor:has-text('{factor}')" if factor else "#followed button.bar")
        assert page.evaluate(f"{CHOSEN}.name") == f"{name}({QUERY})"
    assert page.locator("#followed .bars li").count() == len(EXAMPLES)
    g = page.evaluate(f"{VALUE}({CHOSEN})")
    brought = [number(text) for text in page.locator("#followed .bar-value").all_inner_texts()]
    assert sum(brought) == pytest.approx(g, rel=1e-3)
    page.locator("#followed button.bar").nth(1).click()  # another sentence comes on top, and its own gradient
    assert page.input_value("#sentences") == "1"
    assert page.evaluate(CHOSEN) == {"name": f"d({QUERY})", "row": 1, "column": 2}
    assert page.evaluate(f"{TRACE}.steps[{STEP}].phase") == "backward"
    share = len([label for label in EXAMPLES[1].labels if label >= 0]) / 5  # of five hidden words in all
    assert share * page.evaluate(f"{VALUE}({CHOSEN})") == pytest.approx(brought[1], rel=1e-3)
    page.keyboard.press("Backspace")
    assert page.evaluate(f"{VALUE}({CHOSEN})") == g, "the batch is the same, whichever sentence is on top"
    page.keyboard.press("Escape")
    page.locator("#tries button").first.click()
    page.click("#ways >> text=After the next step")
    assert page.evaluate(f"{CHOSEN}.name").startswith("new(")


def test_one_step_of_training_makes_what_was_shown(page):
    """Of the model that came, the first step; then the next, at another learning rate and with a bug planted."""
    for rate, bug in ((None, None), ("-1.5", "norm-spread")):
        if bug:
            page.click("#tab-break")
            page.check(f"input[value='{bug}']")
        page.click("#tab-train")
        if rate:
            page.locator("#train-rate").fill(rate)
        page.click("#tab-step")
        go_to(page, "s.phase === 'update'")
        shown, before = new_values(page), values(page)
        explained = page.evaluate(f"npbert.explain({TRACE}, 'new({DENSE})', 0, 1)")
        assert explained["total"] == pytest.approx(explained["value"], rel=1e-12)
        after, own = (
            number(page.locator(f"#stage tr:has-text('{row}') td").nth(2).text_content())
            for row in ("the whole batch", "(on top)")
        )
        page.click("#tab-train")
        page.click("#train-one")
        assert values(page) == shown != before
        assert page.evaluate(f"{TRACE}.loss") == pytest.approx(own, rel=1e-3)
        losses = page.evaluate("npbert.state.data.examples.map(e => npbert.run(npbert.state.model, e).loss)")
        counts = [sum(label >= 0 for label in example.labels) for example in EXAMPLES]
        mean = sum(count * loss for count, loss in zip(counts, losses, strict=True)) / sum(counts)
        assert mean == pytest.approx(after, rel=1e-4)
    page.click("#tab-step")
    assert "step 3 of the training" in page.inner_text("#stage-head")
    page.click("#changed-out")
    assert "the first step" in page.inner_text("#stage-head"), "and what it remembered is gone with it"


def test_the_parameters_are_in_the_order_in_which_they_move_and_can_be_chosen_by_name(page):
    go_to(page, "s.phase === 'update'")
    rows = page.locator("#stage section:has-text('Which parameters move most') tbody tr")
    shares = [number(text) for text in rows.locator("td:nth-child(2)").all_text_contents()]
    assert len(shares) == page.evaluate(f"{TRACE}.update.parameters.length") and shares == sorted(shares, reverse=True)
    delta, old = (page.evaluate(f"[...{TRACE}.arrays.get('{name}').values]") for name in (f"delta({DENSE})", DENSE))
    row = rows.filter(has_text="Wh")
    largest, share = max(map(abs, delta)), (sum(x * x for x in delta) / sum(x * x for x in old)) ** 0.5
    assert [number(text) for text in row.locator("td").all_text_contents()] == pytest.approx([share, largest], rel=1e-2)
    row.locator("button").click()
    assert page.locator(f'#stage table[data-array="new({DENSE})"]').count() == 1
    page.evaluate(f"location.hash = 'number=m({QUERY})[1,2]'")  # an address says which one it is, too
    page.wait_for_selector(f'#stage table[data-array="m({QUERY})"] td.chosen')
