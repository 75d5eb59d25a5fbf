"""Calls of every public class and function, with arguments that nobody would give on purpose."""

import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np

import npbert
from tests.fuzz.base import Base
from tests.fuzz.kinds import Call, kind
from tests.fuzz.mutate import NASTY, Rng, pick
from tests.fuzz.outcome import Nonsense

# These start threads, programs or training, or write where they are told: the other kinds try them.
LEFT_OUT = ["main", "set_num_threads", "keep_freed_memory", "stop_when_asked", "atomic_write", "run_folder"]
LEFT_OUT += ["Log", "Bar", "build_site"]
LEFT_OUT += ["prove", "all_pairs"]  # every derivative, half a minute; as many pairs as are asked for


def public_things() -> dict[str, Any]:
    """Everything that a room or the package hands out."""
    root = Path(npbert.__file__).parent.parent
    paths = [path.relative_to(root).with_suffix("") for path in sorted(root.glob("npbert/**/*.py"))]
    names = [".".join(path.parts).removesuffix(".__init__") for path in paths]
    names = [name for name in names if "__main__" not in name and "sklearn" not in name]  # scikit-learn checks its own
    things = {}
    for module in [npbert, *map(importlib.import_module, names)]:
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and name not in LEFT_OUT:
                things[f"{thing.__module__}.{name}"] = thing
    return things


THINGS = public_things()


def an_argument(rng: Rng, base: Base, depth: int = 0) -> Any:
    """A value of any kind: scalars, texts, arrays, layers, configurations, folders."""
    shape = tuple(rng.integers(0, 4, int(rng.integers(0, 4))).tolist())
    match int(rng.integers(8)):
        case 0 | 1:
            return pick(rng, NASTY)
        case 2 | 3:
            return rng.standard_normal(shape).astype(pick(rng, ["f4", "f8", "f2", "c16", "i8", "O", "U3"]))
        case 4:
            return rng.integers(-3, 6, shape).astype(pick(rng, ["i8", "u1", "f8", "?"]))
        case 5:
            layers = [npbert.GELU(), npbert.Linear(2, 3, npbert.Init(rng)), len, int, base.run]
            things = [npbert.Init(rng), npbert.Tape(), npbert.NO_TAPE, rng, npbert.Sequences([1, 2]), np.float32]
            return pick(rng, [*layers, *things, npbert.BertConfig(9, 4, 1, 2, 8, max_position_embeddings=8)])
        case 6 if depth < 2:
            return [an_argument(rng, base, depth + 1) for _ in range(int(rng.integers(0, 3)))]
        case _:
            return pick(rng, [iter(()), (x for x in ["a"]), b"bytes", {1, 2}, base.checkpoints["embed"], object()])


@kind(4)
def calls(rng: Rng, base: Base, folder: Path) -> Call:
    """A class or a function, called; and a method of what it makes."""
    name = pick(rng, list(THINGS))
    thing = THINGS[name]

    def arguments(of: Any) -> tuple[list[Any], dict[str, Any]]:
        try:
            parameters = list(inspect.signature(of).parameters.values())
        except (TypeError, ValueError):
            return [], {}
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        needed = [p for p in positional if p.default is p.empty or rng.random() < 0.3]
        named = {p.name: an_argument(rng, base) for p in parameters if p.kind is p.KEYWORD_ONLY and rng.random() < 0.5}
        return [an_argument(rng, base) for _ in needed], named

    def call() -> object:
        made = called(name, thing)
        if inspect.isclass(thing) and hasattr(made, "forward"):
            called(f"{name}.forward", made.forward)
        return None

    def called(said: str, of: Any) -> Any:
        """What it gives. A wrong argument may raise what Python raises, but nothing that says that nobody looked."""
        given, named = arguments(of)
        try:
            return of(*given, **named)
        except (MemoryError, RecursionError, SystemError, AssertionError, UnboundLocalError) as error:
            raise Nonsense(f"{type(error).__name__} from {said}({given!r:.300}, {named!r:.200}): {error}") from error

    return call
