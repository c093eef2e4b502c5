"""The tools that write memories to archives and take them in again."""

from __future__ import annotations

from polymnia.dialects.associative import parameters, results
from polymnia.dialects.associative.parameters import or_else
from polymnia.dialects.associative.results import reply
from polymnia.dialects.associative.wording import unknown_scope
from polymnia.engine import scopes
from polymnia.models import Note
from polymnia.operation import Context, Reply

__all__ = ["export", "take_in"]


def export(context: Context, given: parameters.Export) -> Reply:
    """memory_export."""
    name = (given.file_path or "").casefold()
    gzip = or_else(given.compression, name.endswith(".gz"))
    yaml = name.removesuffix(".gz").endswith((".yaml", ".yml"))
    done = context.memory.export_memories(
        scope=given.scope,
        name=given.file_path,
        form=or_else(given.export_format, "yaml" if yaml else "json"),
        gzip=gzip,
        associations=or_else(given.include_associations, True),
        step=context.step,
    )
    scope = None if given.scope is None else scopes.legal_scope(given.scope, "scope")
    path = None if done.path is None else context.place(done.path)
    notes = [] if done.count or scope is None else [unknown_scope(context.memory, scope)]
    if done.replaced:
        notes.append(Note("replaced", "A file of that name was there before; this export has replaced it."))
    value = results.Exported(
        True, done.count, done.bytes, scope, gzip, done.associations, path, done.data, done.replaced
    )
    return reply(value, notes)


def take_in(context: Context, given: parameters.Import) -> Reply:
    """memory_import."""
    strategy = or_else(given.merge_strategy, "skip_duplicates")
    done = context.memory.import_memories(
        name=given.file_path,
        data=given.import_data,
        strategy=strategy,
        prefix=given.target_scope_prefix,
        validate=or_else(given.validate_data, True),
        step=context.step,
    )
    notes = [Note("skipped", f"{done.skipped:,} memories are here already and were kept as they are; "
                  "merge_strategy has other ways.")] if done.skipped else None  # fmt: skip
    source = "direct" if given.file_path is None else f"file:{given.file_path}"
    return reply(
        results.Imported(
            True, done.imported, done.skipped, done.overwritten, source, strategy, done.problems, done.scopes,
            done.associations, done.dropped,
        ),
        notes,
    )  # fmt: skip
