"""Search, read and compare."""

from client import server

with server() as call:
    for text, tag in (
        ("The service of Atlas answers on port 9090.", "manual"),
        ("The web page of Atlas answers on port 443.", "manual"),
        ("Ann waters the plants on Mondays.", "office"),
        ("아틀라스의 백업은 매일 밤에 실행된다.", "manual"),
    ):
        call("memory_store", "store_content", content=text, tags=[tag])

    found = call(
        "memory_retrieve",
        "search_content",
        query="which port does the service answer on",
        filters={"tags": ["manual"]},
        options={"include_highlights": True, "limit": 1},
    )
    for result in found["results"]:
        print(result["highlights"][0], "|", result["explanation"])
    print(found["total"], found["facets"]["tags"])

    best = found["results"][0]["content"]["content_id"]
    read = call("memory_retrieve", "get_content", content_id=best, options={"format": "minimal"})
    print(read["content"]["title"])

    near = call("memory_retrieve", "find_similar_content", content_id=best, limit=1)
    print(near["results"][0]["content"]["content"])

    korean = call("memory_retrieve", "search_content", query="백업은 언제 실행되나?", query_type="keyword")
    print(korean["results"][0]["content"]["content"])
