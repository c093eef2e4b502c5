call() { # calls a tool, as an AI client does
    echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"$1"'","arguments":'"$2"'}}' |
        polymnia stdio --dialect strict --store memory.db | python3 -c '
import json, sys
print(json.loads(sys.stdin.readline())["result"]["content"][0]["text"])'
}

call create_entities '{"entities":[{"name":"Ann","entityType":"person","observations":[]}]}'
call create_entities '{"entities":[{"name":"Ann","type":"person","observations":"Likes tea"}]}'
call add_observations '{"observations":[{"entityName":"Ann","contents":["Likes tea"]}]}'
call create_relations '{"relations":[{"from":"Ann","to":"Bob","relationType":"knows"}]}'
call search_nodes '{"query":"tea","limit":20000}'
call search_nodes '{"query":"tea","cursor":"page 2"}'
