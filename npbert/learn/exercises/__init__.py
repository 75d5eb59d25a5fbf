"""The exercises, in order. Each has a text: its task, its hints, a right answer, and the reasons."""

from npbert.learn.exercises.contents import ALL, EXERCISES, VARIANTS

__all__ = ["ALL", "EXERCISES", "VARIANTS"]
