"""The examples that a model got wrong, for each kind of task as a person would look at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from npbert.inference import find_entities
from npbert.pages.html import escape
from npbert.pages.report.parts import isolated, name, number, paragraph, percent, section, table, text

_MOST = 20
_ORDER = "The ones it was surest of come first; they teach the most."


def wrong_section(row: dict[str, Any]) -> str:
    """The wrong answers of an evaluation. row: of shown.jsonl."""
    kind, worst, count = row["kind"], row["worst"][:_MOST], row["examples"]
    if kind == "numbers":
        title, words = "Where it is furthest from the truth", f"Of {count:,} held-out examples, these are furthest off."
    else:
        title = "What it got wrong"
        words = f"Of {count:,} held-out examples, {row['wrong']:,} are wrong at step {row['step']:,}."
        words += f" Here are {len(worst)} of them." if row.get("wrong", 0) > len(worst) else ""
        words += f" {_ORDER}" if kind in ("labels", "choices", "answers") and worst else ""
    if kind == "labels" and _is_always_the_same(row["counts"]):
        words += " It gives every example the same label: it needs more steps, or another learning rate."
    words += f" {_HOW[kind]}" if kind in _HOW and worst else ""
    return section("wrong", title, paragraph(words), _KINDS[kind](worst) if worst else "")


def _is_always_the_same(counts: Sequence[Sequence[int]]) -> bool:
    return sum(any(column) for column in zip(*counts, strict=True)) == 1


def _labels(worst: Sequence[dict[str, Any]]) -> str:
    head = ["text", "true", "the model said", "how sure"]
    return table(
        head,
        [[_texts(one), name(one["true"]), name(one["predicted"]), percent(one["probability"])] for one in worst],
        kind="wrong",
    )


def _numbers(worst: Sequence[dict[str, Any]]) -> str:
    head = ["text", "true", "the model said"]
    return table(head, [[_texts(one), number(one["true"]), number(one["predicted"])] for one in worst], kind="wrong")


def _choices(worst: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            text(one["text"]),
            text(one["choices"][one["true"]]),
            text(one["choices"][one["predicted"]]),
            percent(one["probability"]),
        ]
        for one in worst
    ]
    return table(["text", "the right choice", "the model chose", "how sure"], rows, kind="wrong")


def _texts(one: dict[str, Any]) -> str:
    return "<br>".join(map(text, one["texts"]))


def _tags(worst: Sequence[dict[str, Any]]) -> str:
    lines = []
    for one in worst:
        for key, words in (("true", "true"), ("predicted", "the model said")):
            lines.append(f"<dt>{words}</dt><dd>{isolated(_tagged(one['words'], one[key]))}</dd>")
    return f'<dl class="tagged">{"".join(lines)}</dl>'


def _tagged(words: Sequence[str], tags: Sequence[str]) -> str:
    """The words, each name in them marked with its type; where tags make no names, each word with its tag."""
    if len(words) != len(tags):
        raise ValueError(f"{len(words)} words have {len(tags)} tags")
    try:
        spans = {entity.start: entity for entity in find_entities(tags)}
    except ValueError:
        pairs = zip(words, tags, strict=True)
        return " ".join(f"{escape(word)}<sub>{name(tag)}</sub>" for word, tag in pairs)
    parts, place = [], 0
    while place < len(words):
        span = spans.get(place)
        end = span.end if span else place + 1
        inside = " ".join(map(escape, words[place:end]))
        parts.append(f"<mark>{inside} <sub>{name(span.type)}</sub></mark>" if span else inside)
        place = end
    return " ".join(parts)


def _answers(worst: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            text(one["question"]),
            "<br>".join(text(answer) for answer in one["answers"]),
            f"{text(one['said'])} <span class='quiet'>{percent(one['probability'])}</span>",
            _excerpt(one["excerpt"], one["true"], one["predicted"]),
        ]
        for one in worst
    ]
    return table(["question", "true", "the model said", "in the passage"], rows, kind="wrong")


def _excerpt(passage: str, true: Sequence[int], said: Sequence[int]) -> str:
    """The passage with both answers in it: the true one marked, the model's underlined."""
    inside = [(true[0] <= place < true[1], said[0] <= place < said[1]) for place in range(len(passage))]
    parts, start = [], 0
    for (is_true, is_said), group in groupby(inside):
        end = start + len(list(group))
        part = escape(passage[start:end])
        part = f"<u>{part}</u>" if is_said else part
        parts.append(f"<mark>{part}</mark>" if is_true else part)
        start = end
    return isolated(f"… {''.join(parts)} …")


_KINDS: dict[str, Callable[[Sequence[dict[str, Any]]], str]] = {
    "labels": _labels,
    "numbers": _numbers,
    "choices": _choices,
    "tags": _tags,
    "answers": _answers,
}
_HOW = {
    "tags": "The names in each sentence are marked, with their types: above as they are, below as the model has them.",
    "answers": "In the passage the true answer is marked, and what the model said is underlined, if it is near.",
}
