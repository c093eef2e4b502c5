"""Make a key, start a server, and call tools as any program can: a POST of JSON."""

import json
import subprocess
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

made = ["polymnia", "keys", "add", "notes app", "--for", "atlas", "--access", "write"]
key = subprocess.run(made, capture_output=True, text=True, check=True).stdout.strip()
command = ["polymnia", "serve", "--port", "0", "--store", "notes.db", "--embedder", "none"]
server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
address = next(word for word in server.stderr.readline().split() if word.startswith("http://"))


def call(token: str, tool: str, **arguments: Any) -> None:
    params = {"name": tool, "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    request = Request(address, body, {"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
    try:
        with urlopen(request) as answer:
            told = json.load(answer)
            left = answer.headers["X-RateLimit-Remaining"]
            text = told["result"]["content"][0]["text"] if "result" in told else json.dumps(told["error"])
            print(answer.status, json.loads(text)["message"])
            print("calls left this minute:", left)
    except HTTPError as refused:
        print(refused.status, json.load(refused)["error"]["message"])


text = "The gateway answers on port 8080."
call(key, "memory_store", operation="store_content", project_id="atlas", content=text)
call(key, "memory_store", operation="store_content", project_id="zephyr", content=text)
call("pk_wrong", "memory_store", operation="store_content", project_id="atlas", content=text)
server.terminate()
server.wait()
