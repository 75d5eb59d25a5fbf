"""Entities: the names that the tags of a sentence's words make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_LETTERS = {"B", "I", "E", "S"}


class Entity(NamedTuple):
    """The words start to end − 1 of a sentence, as in words[start:end], name something of that type."""

    type: str
    start: int
    end: int


def find_entities(tags: Sequence[str]) -> list[Entity]:
    """The entities of one sentence, from a tag a word: O, or a letter and a type, as in B-PER.

    B begins an entity, I is inside one, E ends one, S is one by itself, O is outside. A tag continues the entity before
    it when it is I or E, of that entity's type, and the word before is B or I; any other than O begins one. So IOB2,
    IOBES and IOE2 are all read, and tags that follow no scheme are read as well as can be: an I after an O, or after
    another type, begins an entity. (So does conlleval, the script of the CoNLL tasks, and after it seqeval.) A letter
    alone has the type "".

    Raises: ValueError for another tag; TypeError for one string in place of a list.
    """
    if isinstance(tags, str):
        raise TypeError(f"tags are the string {tags!r}, wanted a list of tags for each sentence")
    entities: list[Entity] = []
    open_type = None  # of the entity that the next word may continue
    for position, tag in enumerate(tags):
        letter, _, type_ = str(tag).partition("-")
        if tag != "O" and letter not in _LETTERS:
            raise ValueError(f"tags[{position}] is {tag!r}, wanted O, or B, I, E or S with a type, as in B-PER")
        if letter in {"I", "E"} and type_ == open_type:
            entities[-1] = entities[-1]._replace(end=position + 1)
        elif letter in _LETTERS:
            entities.append(Entity(type_, position, position + 1))
        open_type = type_ if letter in {"B", "I"} else None
    return entities
