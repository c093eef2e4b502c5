"""Activity: what was changed and read in a project, when and by whom, from the journal and the read counts."""
