"""A shelf of records: what a search needs of a snapshot, in the plainest way there is."""

from __future__ import annotations

from collections.abc import Sequence

from polymnia.models import Record, fold

__all__ = ["Shelf", "record"]


def record(id: int, name: str, *observations: str, kind: str = "thing") -> Record:
    """A record with nothing but its texts."""
    return Record(id=id, uid=f"uid {id}", name=name, kind=kind, observations=observations)


class Shelf:
    """Some records. ``common`` are the words it calls too frequent to tell anything apart."""

    def __init__(self, *records: Record, common: Sequence[str] = ()) -> None:
        self._records = {record.id: record for record in records}
        self._common = set(common)

    def containing(self, forms: Sequence[str]) -> list[int]:
        """Ids of the records that hold one of the forms."""
        return sorted(
            id
            for id, held in self._records.items()
            if any(form in fold(text) for text in (held.name, held.kind, *held.observations) for form in forms)
        )

    def load(self, ids: Sequence[int]) -> list[Record]:
        """The records of these ids in the order of their making."""
        return [self._records[id] for id in sorted(ids)]

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        """Whether a form is one of the common words."""
        return not self._common.isdisjoint(forms)

    def size(self) -> int:
        """How many texts there are."""
        return max(1, sum(2 + len(held.observations) for held in self._records.values()))
