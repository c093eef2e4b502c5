"""Advice for people: actions of the engine as commands, or in words where no command does it."""

from __future__ import annotations

from argparse import Namespace
from shlex import quote
from typing import assert_never

from polymnia.engine.analysis import actions

__all__ = ["advised"]


_WHERE = ("config", "store", "file", "project")
"""Settings that say which memory a command is about."""


def advised(action: actions.Action, arguments: Namespace) -> str:
    """What a person does about it: a command for the memory that ``arguments`` name, or words where there is none."""

    def command(*words: str) -> str:
        given = {name: getattr(arguments, name, None) for name in _WHERE}
        where = [word for name, value in given.items() if value is not None for word in (f"--{name}", value)]
        return " ".join(["polymnia", *map(_word, (*words, *where))])

    match action:
        case actions.Store(content=content, title=title, tags=tags):
            about = [word for tag in tags for word in ("--tag", tag)]
            about += [] if title is None else ["--meta", f"title={title}"]
            return command("add", content, *about)
        case actions.Delete(id=id):
            return command("delete", id)
        case actions.Search(query=query):
            return command("search", query)
        case actions.Show(id=id):
            return command("show", id)
        case actions.ShowHistory(id=id):
            return command("history", id)
        case actions.FindSimilar(id=id):
            return command("associations", id)
        case actions.FindRelationships(id=id):
            return command("analyze", "relationships", id)
        case actions.CheckQuality(id=id):
            return command("analyze", "quality", id)
        case actions.CheckConflicts(ids=ids, sensitivity=sensitivity):
            return command("analyze", "conflicts", *ids, "--sensitivity", sensitivity)
        case actions.ExportAll():
            return command("export", "--archive", "memories.json")
        case actions.CleanSessions(days=days):
            return command("sessions", "cleanup", "--older-than", str(days))
        case actions.Update(id=id):
            return f"change {id}: {_changes(action)}"
        case actions.Relate(source=source, target=target, type=type_):
            return f"relate {source} to {target} as {type_}"
        case actions.CreateEntity(name=name):
            return f"describe “{name}”"
        case actions.AddObservations(name=name, texts=texts):
            return f"add to “{name}”: {_quoted(texts)}"
        case actions.DeleteObservations(name=name, texts=texts):
            return f"take out of “{name}”: {_quoted(texts)}"
        case actions.DeleteRelations(relations=relations):
            return "remove the relations " + ", ".join(f"{a} {type_} {b}" for a, b, type_ in relations)
    assert_never(action)


def _word(text: str) -> str:
    """A word as a shell takes it, on one line."""
    if text.isprintable():
        return quote(text)
    escaped = (one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return "$'" + "".join("\\" + one if one in "\\'" else one for one in escaped) + "'"


def _changes(action: actions.Update) -> str:
    said = [
        action.content is not None and f"the text becomes “{action.content}”",
        action.summary is not None and f"the summary becomes “{action.summary}”",
        action.tags is not None and f"the tags become {', '.join(action.tags)}",
        action.metadata is not None and ", ".join(f"{key} becomes {value}" for key, value in action.metadata.items()),
    ]
    return "; ".join(one for one in said if one)


def _quoted(texts: tuple[str, ...]) -> str:
    return ", ".join(f"“{text}”" for text in texts)
