"""Drafts of a session, and a request that comes twice."""

from client import server


def texts(answer: dict) -> list[str]:
    """What a search has found."""
    return [result["content"]["content"] for result in answer["results"]]


with server() as call:
    call("memory_store", "store_content", content="The plan of Atlas", request_id="request-1")
    again = call("memory_store", "store_content", content="The plan of Atlas", request_id="request-1")
    print(again["message"], "repeated:", again["repeated"])
    other = call("memory_store", "store_content", content="Another plan", request_id="request-1")
    print(other["code"], other["message"])

    call("memory_store", "store_content", content="A draft of the plan", session_id="monday")
    print(texts(call("memory_retrieve", "search_content", query="plan")))
    print(texts(call("memory_retrieve", "search_content", query="plan", session_id="monday")))
    print(texts(call("memory_retrieve", "search_content", query="plan", project_id="another")))

with server("--require-session", "on") as call:
    refused = call("memory_store", "store_content", content="Nobody's plan")
    print(refused["code"], refused["message"])
