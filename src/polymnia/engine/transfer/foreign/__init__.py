"""Files of other programs: each module reads those of one program as records of an archive, one at a time."""
