export POLYMNIA_STORE=memory.db POLYMNIA_EMBEDDER=onnx:models/mine
call() {
    echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"$1"'","arguments":'"$2"'}}' |
        polymnia stdio > /dev/null
}
call create_entities '{"entities":[{"name":"Ann","entityType":"person","observations":["Likes tea"]}]}'

polymnia search tea
polymnia health | grep meaning -A 1
polymnia reindex || echo "exit code $?"
