"""Activity: what was done and read in a project, when and by whom, told from the journal and the counts of reads."""
