"""Calls of every public class and function, with arguments that nobody would give on purpose."""

import contextlib
import importlib
import inspect
import pkgutil

import numpy as np

import npbert
from tests.fuzz.kinds import kind
from tests.fuzz.mutate import NASTY, pick
from tests.fuzz.outcome import Nonsense, not_drawn

# These start threads, programs or training, or write where they are told: the other kinds try them.
LEFT_OUT = ["main", "set_num_threads", "keep_freed_memory", "stop_when_asked", "atomic_write", "run_folder"]
LEFT_OUT += ["Log", "Bar", "build_site"]
LEFT_OUT += ["prove", "all_pairs"]  # every derivative, half a minute; as many pairs as are asked for


def public_things():
    """Everything that a room or the package hands out."""
    names = [module.name for module in pkgutil.walk_packages(npbert.__path__, "npbert.")]
    names = [name for name in names if "__main__" not in name and "sklearn" not in name]  # scikit-learn checks its own
    things = {}
    for module in [npbert, *map(importlib.import_module, names)]:
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and name not in LEFT_OUT:
                things[f"{thing.__module__}.{name}"] = thing
    return things


THINGS = public_things()
LAYERS = [npbert.GELU(), npbert.NO_TAPE, npbert.Tape(), npbert.Sequences([1, 2]), len, int, np.float32, object()]
LAYERS += [npbert.BertConfig(9, 4, 1, 2, 8, max_position_embeddings=8), b"bytes", {1, 2}]


def an_argument(rng, base, depth=0):
    """A value of any kind: scalars, texts, arrays, layers, configurations, folders."""
    shape = tuple(rng.integers(0, 4, int(rng.integers(0, 4))).tolist())
    array = rng.standard_normal(shape).astype(pick(rng, ["f4", "f8", "f2", "c16", "i8", "O", "U3"]))
    whole = rng.integers(-3, 6, shape).astype(pick(rng, ["i8", "u1", "f8", "?"]))
    several = [an_argument(rng, base, depth + 1) for _ in range(int(rng.integers(0, 3)))] if depth < 2 else iter(["a"])
    things = [*LAYERS, rng, npbert.Init(rng), base.run, base.checkpoints["embed"]]
    return pick(rng, [pick(rng, NASTY), pick(rng, NASTY), array, array, whole, pick(rng, things), several])


@kind(5)
def calls(rng, base, folder):
    """A class or a function, called; and a method of what it makes."""
    name = pick(rng, list(THINGS))
    thing = THINGS[name]

    def arguments(of):
        positional, named = [], {}
        with contextlib.suppress(TypeError, ValueError):  # of a class that has no signature
            for p in inspect.signature(of).parameters.values():
                if p.kind is p.KEYWORD_ONLY and rng.random() < 0.5:
                    named[p.name] = an_argument(rng, base)
                elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and (
                    p.default is p.empty or rng.random() < 0.3
                ):
                    positional.append(an_argument(rng, base))
        return positional, named

    def call():
        try:
            with not_drawn():
                given = arguments(thing)
                made = thing(*given[0], **given[1])
                if inspect.isclass(thing) and hasattr(made, "forward"):
                    given = arguments(made.forward)
                    made.forward(*given[0], **given[1])
        except (MemoryError, RecursionError, SystemError, AssertionError, UnboundLocalError) as error:
            raise Nonsense(f"{type(error).__name__} from {name}{given!r:.300}: {error}") from error

    return call
