"""Ids by their kind, each given once."""

from __future__ import annotations


class Names(set[tuple[str, str]]):
    """The ids that a stream has, with their kinds."""

    def take(self, kind: str, name: str) -> str:
        """Give an id that is free: the name, or the name with a number."""
        free, number = name, 1
        while (kind, free) in self:
            number += 1
            free = f"{name}#{number}"
        self.add((kind, free))
        return free
