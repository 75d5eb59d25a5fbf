"""The network as data: its arrays, and its steps in order, which the page's scripts compute, explain and draw."""

from configparser import ConfigParser
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from npbert.models import BertConfig
from npbert.pages.html import resource

PROJECTIONS = [("query", "queries", "Q"), ("key", "keys", "K"), ("value", "values", "V")]
PAST_ATTENTION = ["past attention", "through Q", "through K", "through V"]
PAST_FEED_FORWARD = ["past feed-forward", "through feed-forward"]
ACTIVATIONS = {"gelu": "GELU", "relu": "ReLU"}
"""By Hugging Face's names; all others are GELU's tanh form."""


@cache
def formulas() -> dict[str, dict[str, str]]:
    """By the name of its section, what formulas.ini says of arrays, kinds of steps, and bugs."""
    parser = ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # W is not w
    parser.read_string(resource("number/formulas.ini"))
    return {name: dict(section) for name, section in parser.items() if name != "DEFAULT"}


@dataclass
class Network:
    """Steps, each with the arrays that it reads and writes, by what its formulas call them and by name."""

    config: BertConfig
    arrays: dict[str, dict[str, Any]] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)

    def array(self, name: str, symbol: str, head: int | None = None) -> str:
        """Describe the array `name` by its symbol; return the name."""
        rows, columns, meaning = formulas()["arrays"][symbol].split(" | ")
        about = {"symbol": symbol, "rows": rows, "columns": columns, "meaning": meaning, "head": head}
        self.arrays.setdefault(name, about)
        return name

    def step(self, kind: str, part: str, title: str, arrays: dict[str, str], **more: Any) -> str:
        """Add a step; return the name of the array `y` that it makes, if any."""
        self.steps.append({"kind": kind, "part": part, "title": title, "arrays": arrays, **more})
        return arrays.get("y", "")

    def looked_up(self, symbol: str, part: str, table: str, ids: str, *, is_fixed: bool = False) -> str:
        """A row of a table for each token."""
        where = f"bert.embeddings.{part}"
        x = self.array(f"{where}.{'table' if is_fixed else 'weight'}", table)
        arrays = {"x": x, "y": self.array(f"bert.embeddings.{symbol}", symbol)}
        roads = ["as it comes in"] if table == "E" else []  # the table of words has a second use, as answers
        kind = "SinusoidalPositions" if is_fixed else "Embedding"
        return self.step(kind, where, f"{symbol}s", arrays, lookups={"ids": ids}, roads=roads)

    def linear(self, part: str, title: str, w: str, x: str, y: str, dx: str = "") -> str:
        """y = x W + b. dx: the road by which its gradient comes back, where x has several."""
        arrays = {"x": x, "W": self.array(f"{part}.weight", w), "b": self.array(f"{part}.bias", f"b{w[1:]}"), "y": y}
        return self.step("Linear", part, title, {**arrays, **({"dx": dx} if dx else {})})

    def normed(self, part: str, x: str, y: str) -> str:
        """y = γ x̂ + β"""
        arrays = {"gamma": self.array(f"{part}.gamma", "γ"), "beta": self.array(f"{part}.beta", "β")}
        return self.step("LayerNorm", part, "LayerNorm", {"x": x, **arrays, "y": y})

    def activated(self, part: str, x: str, y: str) -> str:
        """y = f(x)"""
        kind = ACTIVATIONS.get(self.config.hidden_act, "TanhGELU")
        return self.step(kind, part, f"{kind}: what is let through", {"x": x, "y": y})

    def forked(self, part: str, x: str, roads: list[str]) -> list[str]:
        """x is used once for each road; return the names of what comes back by each."""
        back = [f"d({x}) {road}" for road in roads]
        many = {2: "two", 4: "four"}[len(roads)]
        title = f"{self.arrays[x]['symbol']} goes {many} ways, one of them the residual"
        self.step("Fork", part, title, {"x": x, **{f"dy{n}": name for n, name in enumerate(back)}}, roads=roads)
        return back

    def added(self, part: str, title: str, *terms: str, dx: str = "") -> str:
        """s = a + b + …"""
        arrays = {f"x{n}": term for n, term in enumerate(terms)} | ({"dx0": dx} if dx else {})
        return self.step("Add", part, title, {**arrays, "y": self.array(f"{part}.s", "s")})

    def layer(self, layer: str, x: str, y: str) -> str:
        """h = LayerNorm(x + Attention(x)),  y = LayerNorm(h + FeedForward(h))"""
        attention, forward = f"{layer}.attention", f"{layer}.feed_forward"
        past, *into = self.forked(attention, x, PAST_ATTENTION)
        q, k, v = (self.array(f"{layer}.{symbol}", symbol) for _, _, symbol in PROJECTIONS)
        for (name, title, symbol), road in zip(PROJECTIONS, into, strict=True):
            self.linear(f"{attention}.{name}", title, f"W{name[0]}", x, f"{layer}.{symbol}", road)
        heads = range(self.config.num_attention_heads)
        scores = {f"s{h}": self.array(f"{layer}.S.{h}", "S", h) for h in heads}
        shares = {f"p{h}": self.array(f"{layer}.P.{h}", "P", h) for h in heads}
        c = self.array(f"{layer}.C", "C")
        dot = f"{attention}.dot_product"
        self.step("Scores", dot, "scores: every query meets every key", {"q": q, "k": k, **scores})
        self.step("Softmax", dot, "softmax: scores become shares", {**scores, **shares})
        self.step("WeightedMean", dot, "a weighted mean of the values", {**shares, "v": v, "c": c})
        a = self.linear(f"{attention}.output", "what attention adds", "Wo", c, self.array(f"{layer}.A", "A"))
        s = self.added(attention, "the residual, added", x, a, dx=past)
        h = self.normed(f"{layer}.attention_norm", s, self.array(f"{layer}.h", "h"))
        past, into_it = self.forked(forward, h, PAST_FEED_FORWARD)
        u = self.array(f"{layer}.U", "U")
        self.linear(f"{forward}.intermediate", "feed-forward, up", "W₁", h, u, into_it)
        g = self.activated(f"{forward}.activation", u, self.array(f"{layer}.G", "G"))
        f = self.linear(f"{forward}.output", "feed-forward, down", "W₂", g, self.array(f"{layer}.F", "F"))
        return self.normed(f"{layer}.output_norm", self.added(forward, "the residual, added", h, f, dx=past), y)

    def predicted(self, y: str) -> None:
        """logits = z Eᵀ + c  with  z = LayerNorm(act(r Wh + bh)), for the hidden words; then their loss."""
        here = "predictions"
        r, t, a, z = (self.array(symbol if symbol == "r" else f"{here}.{symbol}", symbol) for symbol in "rtaz")
        self.step("Gather", "gather", "the rows of the hidden words alone", {"x": y, "y": r}, lookups={"ids": "masked"})
        self.linear(f"{here}.dense", "features of the answer", "Wh", r, t)
        self.activated(f"{here}.activation", t, a)
        self.normed(f"{here}.layer_norm", a, z)
        table, bias = "bert.embeddings.word_embeddings.weight", self.array(f"{here}.bias", "c")
        logits = self.array("logits", "logits")
        arrays = {"h": z, "table": table, "bias": bias, "logits": logits}
        self.step("Decoder", here, "a score for every word", arrays)
        ends = {"logits": logits, "p": self.array("p", "p"), "loss": self.array("loss", "loss")}
        title = "the loss: how surprised by the right words"
        self.step("CrossEntropy", "cross_entropy", title, ends, lookups={"labels": "labels"})


def network(config: BertConfig) -> Network:
    """BERT, from the ids of a sentence to the loss of its hidden words. (Devlin et al. 2018.)"""
    net = Network(config)
    where = [f"bert.encoder.layers.{number}" for number in range(config.num_hidden_layers)]
    is_fixed = config.position_embedding_type == "sinusoidal"
    word = net.looked_up("word", "word_embeddings", "E", "input_ids")
    position = net.looked_up("position", "position_embeddings", "Eᵖ", "positions", is_fixed=is_fixed)
    kind = net.looked_up("type", "token_type_embeddings", "Eˢ", "token_type_ids")
    s = net.added("bert.embeddings", "added up", word, position, kind)
    x = net.normed("bert.embeddings.layer_norm", s, net.array(f"{where[0]}.x", "x"))
    for layer, after in zip(where, [*where[1:], ""], strict=True):
        x = net.layer(layer, x, net.array(f"{after}.x", "x") if after else net.array(f"{layer}.y", "y"))
    net.predicted(x)
    return net
