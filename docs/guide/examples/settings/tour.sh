cat > polymnia.toml << 'END'
dialect = "content"
count-reads = false
max_batch = 500
END
show() { polymnia config "$@" | grep -E "^(dialect|count_reads|max_batch)"; }

echo "Nobody asked for a file in the working folder:"
show
echo "Here it is named, and a variable and a flag win over it:"
export POLYMNIA_CONFIG=polymnia.toml POLYMNIA_DIALECT=official
show --count-reads on
echo "What cannot be is refused:"
echo 'max_bach = 500' > polymnia.toml
polymnia config || echo "exit code $?"
