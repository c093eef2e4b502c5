"""The file formats, each with its reader and its writer. Nothing in here knows a store."""
