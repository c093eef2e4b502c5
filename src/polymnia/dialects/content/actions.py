"""Actions of the engine as tool calls that can be made as they stand."""

from __future__ import annotations

from typing import Any, assert_never

from polymnia.engine.analysis import actions
from polymnia.models import JsonObject


def call(action: actions.Action, project: str | None, session: str | None) -> JsonObject:
    """The tool call that does what an action says, for the project and session of the caller."""

    def made(tool: str, operation: str, **arguments: Any) -> JsonObject:
        whose = {"project_id": project} | ({} if session is None else {"session_id": session})
        return _named(tool, operation=operation, **whose, **arguments)

    match action:
        case actions.Store(content=content, title=title, tags=tags):
            about = {"tags": list(tags), "metadata": None if title is None else {"title": title}}
            return made("memory_store", "store_content", content=content, **_given(about))
        case actions.Update(id=id, content=content, summary=summary, tags=labels, metadata=metadata):
            updates: JsonObject = {"content": content, "summary": summary, "metadata": metadata}
            if labels is not None:
                updates["tags"] = list(labels)
            updates = {key: value for key, value in updates.items() if value is not None}
            return made("memory_store", "update_content", content_id=id, updates=updates)
        case actions.Delete(id=id):
            return made("memory_store", "delete_content", content_id=id)
        case actions.Relate(source=source, target=target, type=type_):
            return made("memory_store", "create_relationship", source_id=source, target_id=target, type=type_)
        case actions.Show(id=id):
            return made("memory_retrieve", "get_content", content_id=id, include_history=True)
        case actions.ShowHistory(id=id):
            return made("memory_retrieve", "get_content_history", content_id=id, include_diffs=True)
        case actions.CheckQuality(id=id):
            return made("memory_analyze", "analyze_quality", content_id=id)
        case actions.CheckConflicts(ids=ids, sensitivity=sensitivity):
            options = {"sensitivity": sensitivity}
            return made("memory_analyze", "detect_conflicts", content_ids=list(ids), options=options)
        case actions.CleanSessions(days=days):
            return _named("session_manage", action="cleanup", max_age_days=days)
        case actions.CreateEntity(name=name):
            entity = {"name": name, "entityType": actions.UNWRITTEN, "observations": [actions.UNWRITTEN]}
            return _named("create_entities", entities=[entity])
        case actions.AddObservations(name=name, texts=texts):
            return _named("add_observations", observations=[{"entityName": name, "contents": list(texts)}])
        case actions.DeleteObservations(name=name, texts=texts):
            return _named("delete_observations", deletions=[{"entityName": name, "observations": list(texts)}])
        case actions.DeleteRelations(relations=relations):
            ends = [{"from": source, "to": target, "relationType": kind} for source, target, kind in relations]
            return _named("delete_relations", relations=ends)
    assert_never(action)


def _named(tool: str, **arguments: Any) -> JsonObject:
    return {"tool": tool, "arguments": arguments}


def _given(arguments: JsonObject) -> JsonObject:
    return {key: value for key, value in arguments.items() if value}
