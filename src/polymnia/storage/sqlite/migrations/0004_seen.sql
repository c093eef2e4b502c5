-- How often memories are read: by whom, and within which hour since 1970. Counts, not memories: they are no part of the
-- journal, and what is deleted for good takes its counts along.
CREATE TABLE seen (
  memory INTEGER NOT NULL,  -- its id; no reference, as a deleted memory may come back
  hour   INTEGER NOT NULL,
  who    TEXT NOT NULL,
  opened INTEGER NOT NULL,  -- by its name or id
  found  INTEGER NOT NULL,  -- among the results of a search
  PRIMARY KEY (memory, hour, who)
) STRICT, WITHOUT ROWID;
