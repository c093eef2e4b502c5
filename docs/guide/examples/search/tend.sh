export POLYMNIA_STORE=notes.db POLYMNIA_EMBEDDER=none
polymnia import notes.jsonl > /dev/null

polymnia reindex --embedder multi
polymnia reindex --embedder multi
polymnia health --embedder multi | grep -v ^store
polymnia health --embedder onnx:models/mine | grep -v ^store
polymnia search "green tea" --embedder onnx:models/mine
