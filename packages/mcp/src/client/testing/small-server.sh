# A server of 2025 that costs next to nothing, so that many of them can run. $1 is a folder for its processes, $2 how it is.
echo "$$ $PPID" > "$1/$$"
[ "$2" = hangs ] && exec sleep 600

answer() {
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"
}

while IFS= read -r line; do
  id=${line##*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"small","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer '"result":{"tools":[{"name":"hello","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      answer '"result":{"content":[{"type":"text","text":"hello"}]}' ;;
    *'"id":'*)
      answer '"error":{"code":-32601,"message":"unknown"}' ;;
  esac
done
