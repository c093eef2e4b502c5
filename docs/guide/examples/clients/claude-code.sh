claude mcp add --scope user memory -- polymnia stdio --dialect official
