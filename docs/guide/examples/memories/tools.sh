export POLYMNIA_STORE=notes.db POLYMNIA_EMBEDDER=none
call() { # calls a tool, as an AI client does
    echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"$1"'","arguments":'"$2"'}}' |
        polymnia stdio --dialect associative | python3 -c '
import json, sys
print(json.loads(sys.stdin.readline())["result"]["content"][0]["text"])'
}

call memory_store '{"content":"Ann likes green tea","scope":"home/people","tags":["tea"]}'
call memory_store '{"content":"Ann likes green tea.","scope":"home/people","tags":["drinks"]}'
call memory_search '{"query":"green tea","scope":"home","include_child_scopes":true}'
call scope_list '{}'
call memory_get '{"memory_id":"nobody"}'
