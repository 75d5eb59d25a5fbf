"""The page of errors: every text that npbert stops or warns with, below the words that explain it."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from npbert.pages.site.definitions import Definition
from npbert.pages.site.docstring import Texts
from npbert.pages.site.library import Library
from npbert.pages.site.rendering import Page, render
from npbert.pages.site.sources import Function, last_assigned

ERRORS_PAGE = "errors.html"
_ABOUT = "Every text that npbert stops or warns with, and what explains it."
_RAISES = re.compile(r"Raises:.*?(?=\n\s*\n|\Z)|Warns:.*?(?=\n\s*\n|\Z)", re.DOTALL)
_FEWEST = 8  # letters of a text by which it can be found


@dataclass(frozen=True)
class Explained:
    """A class or function whose docstring explains errors. texts: (what is printed, the line that says so) of each."""

    definition: Definition
    texts: list[tuple[str, str]] = field(default_factory=list)

    @property
    def paragraph(self) -> str:
        """What it raises and warns of, in the words of its docstring; or else what it is for."""
        text = _docstring(self.definition) or ast.get_docstring(self.definition.source.tree) or ""
        return "\n\n".join(_RAISES.findall(text)) or text.partition("\n\n")[0]

    @property
    def address(self) -> str:
        """The place of it on the page of errors."""
        return f"{ERRORS_PAGE}#{self.definition.source.module}.{self.definition.name}"


def errors_in(library: Library) -> list[Explained]:
    """Every text, with what explains it, in the order of the files."""
    shown = {each for each in library.sources if each.path.startswith("npbert/") and each.room != "learn/exercises"}
    functions = [each for each in library.definitions.all() if each.source in shown and isinstance(each.node, Function)]
    users: dict[str, list[Definition]] = {}
    for definition in functions:
        for name in {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(definition.node)}:
            users.setdefault(name, []).append(definition)
    found: dict[Definition, Explained] = {}
    for definition in functions:
        texts = list(_texts(definition))
        for explains in (_explaining(definition, users, library, {definition}) or [definition]) if texts else ():
            said = found.setdefault(explains, Explained(explains)).texts
            known = dict(said)
            said += [(text, f"{definition.source.page}#L{line}") for text, line in texts if text not in known]
    return sorted(found.values(), key=lambda each: library.sources.index(each.definition.source))


def errors_page(library: Library, errors: list[Explained]) -> Page:
    """The page, with a part for each class or function that explains some."""
    entries = []
    for error in errors:
        texts = Texts(library, error.definition.source, ERRORS_PAGE)
        paragraph = texts.html(error.paragraph, error.definition.line, error.definition)
        entries.append((error, error.address.partition("#")[2], paragraph))
    return Page(ERRORS_PAGE, "Errors in words", "api", render("errors", ERRORS_PAGE, entries=entries), _ABOUT)


def _texts(definition: Definition) -> Iterator[tuple[str, int]]:
    """(text, line) of what a function raises, or warns of; … stands for what is known only when it runs."""
    for node in ast.walk(definition.node):
        call = node.exc if isinstance(node, ast.Raise) else node
        if isinstance(call, ast.Call) and (call is not node or ast.unparse(call.func).endswith(("warn", ").check"))):
            text = _said(call, definition.node)
            if len(re.findall(r"[^\W\d_]", text)) >= _FEWEST:
                yield text, call.lineno


def _said(call: ast.Call, function: ast.AST) -> str:
    """What an error or a warning says that this call makes, or the check of a value, at_least(1).check("top_k", 0)."""
    fields = {keyword.arg: _template(keyword.value, function) for keyword in call.keywords}
    says = [_template(each, function) for each in call.args]
    if ast.unparse(call.func).endswith(").check"):
        fields, says = {"what": says[0], "wanted": "…"}, []
    says = says or [f"{fields.get('what', '…')} is …"]
    return max(says, key=len) + (f", wanted {fields['wanted']}" if "wanted" in fields else "")


def _template(value: ast.expr | None, function: ast.AST) -> str:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    if isinstance(value, ast.Tuple):
        return "".join(_template(each, function) for each in value.elts)
    if isinstance(value, ast.Call):
        return _said(value, function)
    if isinstance(value, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "…" for each in value.values)
    if isinstance(value, ast.BinOp):
        return _template(value.left, function) + _template(value.right, function)
    if isinstance(value, ast.Name) and isinstance(function, Function):
        assigned = last_assigned(function, value)
        return _template(assigned, function) if assigned is not None else "…"
    return "…"


def _explaining(
    definition: Definition, users: dict[str, list[Definition]], library: Library, seen: set[Definition]
) -> list[Definition]:
    """Where it says "Raises:" for a function: there itself, in its class, or else where it is used, and where that is
    used. users: the functions in which a name stands."""
    module, (owner, _, name) = definition.source.module, definition.name.rpartition(".")
    around = library.definitions.find(module, owner) if owner else None
    for each in filter(None, (definition, around)):
        if _RAISES.search(_docstring(each)):
            return [each]
    found: list[Definition] = []
    for user in users.get(name, []):
        meant = library.definitions.find(user.source.module, name)  # None for a method: it is used in its own file
        if user not in seen and (meant is definition or (owner and user.source is definition.source)):
            seen.add(user)
            found += _explaining(user, users, library, seen)
    return list(dict.fromkeys(found))


def _docstring(definition: Definition) -> str:
    is_known = isinstance(definition.node, ast.ClassDef | Function)
    return (ast.get_docstring(definition.node) or "") if is_known else ""  # type: ignore[arg-type]
