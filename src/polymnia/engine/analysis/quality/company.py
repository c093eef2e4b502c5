"""Company: the contents among which one is judged, so that one question does not read the whole of a large project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["company"]

_MOST = 2000  # contents; what is usual in a project shows in them


def company(material: Material) -> list[Record]:
    """The newest contents that belong to a material, in the order of their making."""
    base = material.look.base
    newest = material.snapshot.newest(_MOST)[::-1]
    passing = (
        set(material.snapshot.matching(material.wanted, among=[one.id - base for one in newest])) if newest else set()
    )
    return [one for one in newest if one.id - base in passing and material.within(one.created, one.updated)]
