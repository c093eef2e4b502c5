export POLYMNIA_STORE=tour.db

call() { # calls a tool, as an AI client does
    echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"$1"'","arguments":'"$2"'}}' |
        polymnia stdio > /dev/null
}

call create_entities '{"entities":[{"name":"Ann","entityType":"person","observations":["Likes tea"]}]}'
call add_observations '{"observations":[{"entityName":"Ann","contents":["Lives in Ulm"]}]}'
call delete_entities '{"entityNames":["Ann"]}'

polymnia undo
polymnia history Ann
polymnia show Ann --at 1
polymnia changes --limit 2
