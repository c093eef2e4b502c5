"""Any memories and relations, however they came to be, pass through every format of archive unchanged."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from form import by_form
from polymnia import EntityDraft, Memory, connect
from polymnia.models import RelationDraft
from stdio_client import Place

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
    st.sampled_from(
        [
            "",
            " ",
            "no",
            "007",
            "1e3",
            "2025-07-10",
            "- x",
            "a: b",
            "# c",
            "a\n\n b\n",
            "\ufeff",
            "\x85",
            "'",
            '"',
            "한국어",
        ]
    ),
    st.text("ab \n\t-:#'\"|>&*!%,[]{}?\\0.\r\u2028~", max_size=12),
)
said = texts.filter(lambda text: text.strip() != "")
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(1 << 63), (1 << 63) - 1), texts,
              st.floats(allow_nan=False, allow_infinity=False)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
parts = st.sampled_from(["a", "b", "session", "user", "default", "작업", "x y", "no"])
scopes = st.lists(parts, min_size=1, max_size=4).map("/".join)
tags = st.lists(said, max_size=3)
metadata = st.dictionaries(texts, values, max_size=3)
names = st.sampled_from(["Ann", "ann", "서울", "yes", "0", "a b", " ", ""])

contents = st.fixed_dictionaries(
    {"text": said, "scope": scopes},
    optional={"tags": tags, "metadata": metadata, "category": said, "kind": said},
)
entities = st.builds(
    EntityDraft, names, st.sampled_from(["person", "memory", "no", ""]), st.lists(texts, max_size=3).map(tuple),
    extra=metadata, summary=st.none() | texts, content_type=st.none() | said,
)  # fmt: skip
links = st.tuples(
    st.integers(0, 20), st.integers(0, 20), st.sampled_from(["knows", "associated_with", "no", ""]),
    st.none() | st.floats(0, 1), st.none() | texts, metadata, st.sampled_from(["manual", "auto"]),
)  # fmt: skip
plans = st.fixed_dictionaries(
    {
        "contents": st.lists(contents, max_size=5),
        "entities": st.lists(entities, max_size=4, unique_by=lambda one: one.name),
        "links": st.lists(links, max_size=6),
        "dangling": st.lists(st.tuples(names, names, st.sampled_from(["knows", ""])), max_size=2),
        "revised": st.booleans(),
    }
)


@pytest.fixture(scope="module")
def projects() -> Iterator[Callable[[], Memory]]:
    """Gives a memory of another project each time, all in one store and without a model, which plays no part here."""
    numbers = count()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("POLYMNIA_EMBEDDER", "none")
        place = Place(Path(folder))
        memory = connect(place.address, graph="simple")

        def another() -> Memory:
            return memory.acting("test", project=f"project {next(numbers)}")

        yield another
        memory.close()
        place.close()


def _filled(memory: Memory, plan: dict[str, Any]) -> None:
    called = []
    for one in plan["contents"]:
        called.append(memory.remember(**one, allow_duplicates=True, associate=False).record.name)
    if plan["entities"]:
        with memory.store.write(memory.project, "test", "create") as tx:
            called += [record.name for record in tx.add_records(plan["entities"])]
    if called and plan["links"]:
        drafts = [
            RelationDraft(called[source % len(called)], called[target % len(called)], *rest[:3], rest[3], {}, rest[4])
            for source, target, *rest in plan["links"]
        ]
        with memory.store.write(memory.project, "test", "relate") as tx:
            tx.relate(drafts)
    if plan["dangling"]:
        memory.create_relations(plan["dangling"])
    if plan["revised"] and plan["contents"]:
        memory.revise(called[0], text="revised", tags=["new"])


@pytest.mark.promise("associative.archives.round_trip")
@settings(
    max_examples=by_form(10, 60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(plan=plans, form=st.sampled_from(["json", "yaml"]), gzip=st.booleans())
def test_an_export_of_what_an_export_brought_is_the_same_bytes(
    projects: Callable[[], Memory], plan: dict[str, Any], form: Literal["json", "yaml"], gzip: bool
) -> None:
    first, second = projects(), projects()
    _filled(first, plan)
    exported = first.export_memories(form=form, gzip=gzip)
    done = second.import_memories(data=exported.data)
    assert (done.imported, done.associations) == (exported.count, exported.associations)
    assert second.export_memories(form=form, gzip=gzip).data == exported.data
    again = second.import_memories(data=exported.data)
    assert (again.imported, again.skipped, again.associations) == (0, exported.count, 0)
    assert second.export_memories(form=form, gzip=gzip).data == exported.data
    second.import_memories(data=exported.data, strategy="overwrite")
    assert second.export_memories(form=form, gzip=gzip).data == exported.data


@pytest.mark.long
@pytest.mark.promise("associative.archives.round_trip")
@pytest.mark.parametrize("many", [499, 500, 501, 1203])
def test_archives_of_any_length_come_back(projects: Callable[[], Memory], many: int) -> None:
    first, second = projects(), projects()
    with first.store.write(first.project, "test", "create") as tx:
        tx.add_records([EntityDraft(f"name {n}", "kind", (f"text {n}",)) for n in range(many)])
        tx.relate([RelationDraft(f"name {n}", f"name {n // 2}", "part of") for n in range(many)])
        tx.relate([RelationDraft("name 0", "name 1", "again") for _ in range(many)])
    exported = first.export_memories()
    assert second.import_memories(data=exported.data).imported == many
    assert second.export_memories().data == exported.data
