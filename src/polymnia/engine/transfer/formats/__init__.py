"""The file formats, each with a reader and a writer. Nothing here depends on a store."""
