"""What the thirteen tools take. Every parameter may be left out or be null where the seed calls it optional."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

__all__ = [
    "Delete",
    "Discover",
    "Export",
    "Get",
    "Import",
    "ListAll",
    "ListScopes",
    "Move",
    "Search",
    "Sessions",
    "Store",
    "Suggest",
    "Update",
    "or_else",
]


def or_else(value: Any, default: Any) -> Any:
    """A parameter, or what it means to leave it out."""
    return default if value is None else value


def _default(value: Any) -> dict[str, Any]:
    return {"default": value}


Content = Annotated[str, Meta(description="Required. The text to remember, in full.")]
Scope = Annotated[
    str,
    Meta(
        description="Where it is filed: parts with / between them, such as work/projects/api.",
        extra_json_schema=_default("user/default"),
    ),
]
Id = Annotated[str, Meta(description="Required. The memory's id.")]
Share = Annotated[float, Meta(ge=0, le=1)]
Tags = Annotated[list[str], Meta(description="Labels it can be found by.")]
Category = Annotated[str, Meta(description="What sort of memory it is, for example decision or meeting.")]
Metadata = Annotated[dict[str, Any], Meta(description="Anything else worth keeping with it, as key and value.")]


class _Parameters(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all of them have in common: a parameter nobody knows is refused, not passed over."""


class Store(_Parameters, frozen=True, kw_only=True):
    """Parameters of memory_store."""

    content: Content
    scope: Scope | None = None
    category: Category | None = None
    tags: Tags | None = None
    metadata: Metadata | None = None
    allow_duplicates: (
        Annotated[
            bool,
            Meta(
                description="Store it even if the scope has one that says exactly the same.",
                extra_json_schema=_default(False),
            ),
        ]
        | None
    ) = None
    auto_associate: (
        Annotated[
            bool, Meta(description="Link it to the memories nearest in meaning.", extra_json_schema=_default(True))
        ]
        | None
    ) = None
    similarity_threshold: (
        Annotated[
            Share,
            Meta(
                description="How similar a stored text must be to be named in the answer as nearly the same.",
                extra_json_schema=_default(0.95),
            ),
        ]
        | None
    ) = None


class Search(_Parameters, frozen=True, kw_only=True):
    """Parameters of memory_search."""

    query: Annotated[str, Meta(description="Required. What to look for, in plain words; a question is fine.")]
    scope: Annotated[str, Meta(description="Search only this scope.")] | None = None
    limit: (
        Annotated[int, Meta(ge=1, le=100, description="At most so many memories.", extra_json_schema=_default(10))]
        | None
    ) = None
    similarity_threshold: (
        Annotated[
            Share,
            Meta(
                description="Leave out what scores less. If you give none and nothing reaches it: the nearest.",
                extra_json_schema=_default(0.1),
            ),
        ]
        | None
    ) = None
    include_associations: (
        Annotated[bool, Meta(description="Tell what each memory is linked to.", extra_json_schema=_default(True))]
        | None
    ) = None
    include_child_scopes: (
        Annotated[bool, Meta(description="Search the scopes below it too.", extra_json_schema=_default(False))] | None
    ) = None


class Get(_Parameters, frozen=True, kw_only=True):
    """Parameters of memory_get."""

    memory_id: Id
    include_associations: (
        Annotated[bool, Meta(description="Tell what it is linked to.", extra_json_schema=_default(True))] | None
    ) = None


class Update(_Parameters, frozen=True, kw_only=True):
    """Parameters of memory_update."""

    memory_id: Id
    content: Annotated[str, Meta(description="The new text.")] | None = None
    scope: Annotated[str, Meta(description="The new scope.")] | None = None
    tags: Annotated[list[str], Meta(description="The new tags, all of them; [] takes them away.")] | None = None
    category: Annotated[str, Meta(description='The new category; "" takes it away.')] | None = None
    metadata: Annotated[dict[str, Any], Meta(description="The new metadata, all of it.")] | None = None
    preserve_associations: (
        Annotated[
            bool,
            Meta(description="Keep the associations; false finds them anew.", extra_json_schema=_default(True)),
        ]
        | None
    ) = None


class Delete(_Parameters, frozen=True, kw_only=True):
    """Parameters of memory_delete."""

    memory_id: Id


class Discover(_Parameters, frozen=True, kw_only=True):
    """Parameters of memory_discover_associations."""

    memory_id: Id
    limit: (
        Annotated[int, Meta(ge=1, le=50, description="At most so many associations.", extra_json_schema=_default(10))]
        | None
    ) = None
    similarity_threshold: (
        Annotated[Share, Meta(description="Leave out what is weaker.", extra_json_schema=_default(0.1))] | None
    ) = None


class ListScopes(_Parameters, frozen=True, kw_only=True):
    """Parameters of scope_list."""

    parent_scope: Annotated[str, Meta(description="Only this scope and what is below it.")] | None = None
    include_memory_counts: (
        Annotated[bool, Meta(description="Count the memories.", extra_json_schema=_default(True))] | None
    ) = None


class Suggest(_Parameters, frozen=True, kw_only=True):
    """Parameters of scope_suggest."""

    content: Annotated[str, Meta(description="Required. The text to find a place for.")]
    current_scope: Annotated[str, Meta(description="Where you are working; places near it are preferred.")] | None = (
        None
    )


class Move(_Parameters, frozen=True, kw_only=True):
    """Parameters of memory_move."""

    target_scope: Annotated[str, Meta(description="Required. The scope to move to.")]
    memory_ids: (
        Annotated[list[str], Meta(description="Required, unless source_scope is given. The memories to move.")] | None
    ) = None
    source_scope: (
        Annotated[str, Meta(description="Instead of memory_ids: rename this scope, with everything below it.")] | None
    ) = None


class ListAll(_Parameters, frozen=True, kw_only=True):
    """Parameters of memory_list_all."""

    page: Annotated[int, Meta(ge=1, description="Which page.", extra_json_schema=_default(1))] | None = None
    per_page: (
        Annotated[int, Meta(ge=1, le=100, description="Memories on a page.", extra_json_schema=_default(10))] | None
    ) = None


class Export(_Parameters, frozen=True, kw_only=True):
    """Parameters of memory_export."""

    scope: (
        Annotated[str, Meta(description="Export this scope and everything below it (default: all memories).")] | None
    ) = None
    file_path: (
        Annotated[
            str, Meta(description="A file name inside the server's export folder; without one the data is answered.")
        ]
        | None
    ) = None
    export_format: (
        Annotated[
            Literal["json", "yaml"],
            Meta(description="The format; by default what the file's ending says.", extra_json_schema=_default("json")),
        ]
        | None
    ) = None
    compression: (
        Annotated[bool, Meta(description="Compress it with gzip.", extra_json_schema=_default(False))] | None
    ) = None
    include_associations: (
        Annotated[bool, Meta(description="Export what links the memories, too.", extra_json_schema=_default(True))]
        | None
    ) = None


class Import(_Parameters, frozen=True, kw_only=True):
    """Parameters of memory_import."""

    file_path: Annotated[str, Meta(description="A file inside the server's export folder.")] | None = None
    import_data: (
        Annotated[str, Meta(description="Instead of a file: the exported data itself, JSON or YAML.")] | None
    ) = None
    merge_strategy: (
        Annotated[
            Literal["skip_duplicates", "overwrite", "create_versions", "merge_metadata"],
            Meta(
                description="What happens to memories that exist: keep them, replace them, add the imported text as a "
                "new version, or keep the text and combine tags and metadata.",
                extra_json_schema=_default("skip_duplicates"),
            ),
        ]
        | None
    ) = None
    target_scope_prefix: Annotated[str, Meta(description="File everything below this scope.")] | None = None
    validate_data: (
        Annotated[
            bool,
            Meta(
                description="Import nothing unless every record is sound; false imports the sound ones.",
                extra_json_schema=_default(True),
            ),
        ]
        | None
    ) = None


class Sessions(_Parameters, frozen=True, kw_only=True):
    """Parameters of session_manage."""

    action: Annotated[
        Literal["create", "list", "cleanup"],
        Meta(description="Required. create begins a session, list shows all, cleanup removes old ones."),
    ]
    session_id: Annotated[str, Meta(description="The session; create makes a name if none is given.")] | None = None
    max_age_days: (
        Annotated[
            float,
            Meta(ge=0, le=36_500, description="cleanup: unused for longer than this.", extra_json_schema=_default(7)),
        ]
        | None
    ) = None
