"""What stands below a backward: its last check, its planted bugs, its chapter and its exercise."""

from __future__ import annotations

import ast
import re

from npbert.pages.html import escape
from npbert.pages.site.definitions import Definition
from npbert.pages.site.diff import diff_html, diff_of
from npbert.pages.site.library import Library, relative
from npbert.pages.site.planted import Bug
from npbert.pages.site.proofs import Proof, in_words, proof_table, proofs_of

_NO_BUGS = "The planted bugs stand in tests/planted of the repository and of the sdist, which are not here."


class Panels:
    """The panels of all classes and functions."""

    def __init__(self, library: Library, proofs: list[Proof], bugs: list[Bug]) -> None:
        self.library, self.proofs, self.bugs = library, proofs, bugs
        self.has_bugs = (library.root / "tests" / "planted").is_dir()

    def of(self, thing: Definition, page: str) -> str:
        """The panel of a class or function; "" for one that is not checked, and has no planted bugs."""
        called = f"{thing.source.module}.{thing.name}"
        bugs = [bug for bug in self.bugs if bug.owner == called]
        is_layer = self.has_backward(thing)
        parts = [self._check(thing) if is_layer else "", self._bugs(bugs, is_layer), self._learn(thing, page)]
        if not is_layer and not bugs:
            return ""
        return f'<aside class="proof" aria-label="what is known of {escape(thing.name)}">{"".join(parts)}</aside>'

    def has_backward(self, thing: Definition) -> bool:
        """Whether it is a class with a derivative of its own: a backward, or the slope that one is made of."""
        own = {getattr(node, "name", "") for node in getattr(thing.node, "body", [])}
        return isinstance(thing.node, ast.ClassDef) and bool(own & {"backward", "value_and_slope"})

    def _check(self, thing: Definition) -> str:
        said, proofs = proofs_of(thing, self.proofs, self.library.definitions)
        if not proofs:
            return ""
        names = ", ".join(proof.block for proof in proofs) if said else ""
        words = f"{escape(said + names)}{'. ' if said else ''}{in_words(proofs)}"
        shown = f'<div class="scrolls">{proof_table(proofs)}</div>'
        title = '<h3><span class="tick" aria-hidden="true">✓</span> Its last check</h3>'
        return f"<div>{title}<p>{words}</p><details><summary>the figures</summary>{shown}</details></div>"

    def _bugs(self, bugs: list[Bug], is_layer: bool) -> str:
        if not self.has_bugs:
            return f'<div><h3>Its planted bugs</h3><p class="quiet">{_NO_BUGS}</p></div>' if is_layer else ""
        if not bugs:
            none = "None is planted in it alone; those of its parts and of the whole models are beside them."
            return f'<div><h3>Its planted bugs</h3><p class="quiet">{none}</p></div>'
        several = f"{len(bugs)} planted bugs" if len(bugs) > 1 else "A planted bug"
        told = "The tests put each of them in its place, and the checks must reject it."
        items = "".join(map(self._bug, bugs))
        return f'<div><h3>{several}</h3><p class="quiet">{told}</p>{items}</div>'

    def _bug(self, bug: Bug) -> str:
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", bug.name)  # of a class
        name = words.replace("_", " ").capitalize()
        says = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(bug.says))
        where = f"planted in {'; '.join(bug.blocks)}" if bug.blocks else "told by a check of what it does"
        method = f"in place of <code>{escape(bug.method)}</code>, " if bug.method else ""
        diff = diff_html(diff_of(bug, self.library.definitions))
        return (
            f'<details class="bug" data-bug="{escape(bug.name)}"><summary><b>{escape(name)}.</b> {says}</summary>'
            f"{diff}"
            f'<p class="quiet">{method}{escape(where)}</p></details>'
        )

    def _learn(self, thing: Definition, page: str) -> str:
        node = thing.node
        text = (ast.get_docstring(node) or "") if isinstance(node, ast.ClassDef | ast.FunctionDef) else ""
        numbers = [
            int(n) for found in re.findall(r"[Cc]hapters? ([\d and]+?) of docs/", text) for n in found.split(" and ")
        ]
        derived = [chapter for chapter in map(self.library.chapter, numbers) if chapter]
        beside = self.library.chapters_about(thing.source) if self.has_backward(thing) else []
        told = [(chapter, "derives it") for chapter in derived]
        told += [(chapter, "uses it") for chapter in beside if chapter not in derived]
        items = [
            f'<li><a href="{escape(relative(page, chapter.page))}">{escape(chapter.title)}</a> {what}.</li>'
            for chapter, what in told
        ]
        for number in map(int, re.findall(r"[Ee]xercise (\d+)", text)):
            if number in self.library.exercises:
                title = escape(self.library.exercises[number].title)
                items.append(
                    f"<li>Write it yourself: exercise {number}, {title}. <code>npbert learn</code> writes the file for "
                    f"it, and <code>npbert learn check {number:02}</code> says what is wrong with yours.</li>"
                )
        return f'<div><h3>To learn it</h3><ul class="plain">{"".join(items)}</ul></div>' if items else ""
