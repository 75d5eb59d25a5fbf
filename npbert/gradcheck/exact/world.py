"""World: what the parts of exact numbers are."""

from typing import Any, Protocol


class World(Protocol):
    """The kind of parts that a Number has. modulus: they are taken modulo this after each sum and product."""

    modulus: Any

    def draw(self, seen: float) -> Any:
        """A random value, for an unknown that is `seen` in floats."""

    def draw_tangent(self) -> Any:
        """A random tangent."""
        return self.draw(0.0)

    def constant(self, x: float) -> Any:
        """The value of a float in the code."""

    def inverse(self, value: Any) -> Any:
        """1/value, for a value that is not 0."""

    def function(self, rule: Any, value: Any) -> Any:
        """The value of a function there (a `rules.Rule`)."""
