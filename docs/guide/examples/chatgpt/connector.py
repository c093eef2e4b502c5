"""Ask a server what ChatGPT asks a connector: search with a question, then fetch a result."""

import json
import subprocess

from polymnia import connect

with connect("notes.db") as memory:
    memory.remember("The quarterly plan is due on 12 June; Ann keeps it.", tags=["plan"])
    memory.remember("The plan template of the company.", metadata={"url": "https://example.com/plan-template"})

command = ["polymnia", "stdio", "--dialect", "chatgpt", "--store", "notes.db", "--embedder", "none"]
pipe = subprocess.PIPE
with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as process:

    def call(tool: str, **arguments: str) -> dict:
        params = {"name": tool, "arguments": arguments}
        print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}), file=process.stdin)
        process.stdin.flush()
        return json.loads(json.loads(process.stdout.readline())["result"]["content"][0]["text"])

    results = call("search", query="When is the quarterly plan due?")["results"]
    for one in results:
        print(one["title"], "|", one["url"].split(one["id"])[0])
    document = call("fetch", id=results[0]["id"])
    print(sorted(document), document["metadata"]["tags"])
    print(document["text"])
    process.stdin.close()
