import json
import subprocess

server = subprocess.Popen(
    ["polymnia", "stdio", "--dialect", "native", "--store", "agent.db"],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)


def call(tool, **arguments):
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    print(json.dumps(request), file=server.stdin, flush=True)
    while "result" not in (answer := json.loads(server.stdout.readline())):
        pass
    print(f"> {tool}\n{answer['result']['content'][0]['text']}\n")


call("remember", text="Never deploy on Fridays.", kind="instruction")
call("remember", entities=[{"name": "Kim", "kind": "person", "observations": ["Runs the database"]}])
call("revise", id="Kim", add=["On leave in August"])
call("undo")
call("brief")
server.stdin.close()
