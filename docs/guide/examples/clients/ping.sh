echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | polymnia stdio
