-- The word index and the vectors. Both are made of the texts and can be made again from them.

ALTER TABLE project ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;    -- texts up to this number are in the word index
ALTER TABLE project ADD COLUMN passages INTEGER NOT NULL DEFAULT 0;  -- the last number given to a passage
ALTER TABLE project ADD COLUMN edition INTEGER NOT NULL DEFAULT 0;   -- how often the word index was begun anew

-- Passages, packed by the hundred: fixed rows of numbers that are read into memory as they are.
CREATE TABLE passage_block (
  project INTEGER NOT NULL REFERENCES project (id),
  first   INTEGER NOT NULL,
  count   INTEGER NOT NULL,
  low     INTEGER NOT NULL,  -- the lowest and the highest number of a text in the block
  high    INTEGER NOT NULL,
  data    BLOB NOT NULL,
  PRIMARY KEY (project, first)
) STRICT, WITHOUT ROWID;

-- Where each term stands. One row for each time texts were indexed together: rows are added, hardly ever changed.
CREATE TABLE posting (
  project INTEGER NOT NULL REFERENCES project (id),
  term    TEXT NOT NULL,
  first   INTEGER NOT NULL,  -- the number of the first passage of that time
  data    BLOB NOT NULL,
  PRIMARY KEY (project, term, first)
) STRICT, WITHOUT ROWID;

-- Indexed texts that have been deleted. An undo takes them out again: the text of a row never changes.
CREATE TABLE gone (id INTEGER PRIMARY KEY) STRICT;

-- Texts to index once more: heads of memories that have changed, and texts that were away when the index came by.
CREATE TABLE stale (id INTEGER PRIMARY KEY) STRICT;

CREATE TABLE model (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL
) STRICT;

-- Numbered in the order of arrival, so that every process can ask for what is new.
CREATE TABLE vector (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  model INTEGER NOT NULL REFERENCES model (id),
  text  INTEGER NOT NULL,
  part  INTEGER NOT NULL,
  half  BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vector_text ON vector (text, part, model);

-- The signs of the numbers of a vector, apart: reading them all must not read all vectors.
CREATE TABLE vector_bits (
  project INTEGER NOT NULL REFERENCES project (id),
  model   INTEGER NOT NULL REFERENCES model (id),
  id      INTEGER NOT NULL,  -- of the vector
  text    INTEGER NOT NULL,  -- the number of the text within the project
  part    INTEGER NOT NULL,
  bits    BLOB NOT NULL,
  PRIMARY KEY (project, model, id)
) STRICT, WITHOUT ROWID;

-- The tags of the memories there are, so that a tag finds its memories.
CREATE TABLE tag (
  project INTEGER NOT NULL REFERENCES project (id),
  tag     TEXT NOT NULL,
  memory  INTEGER NOT NULL,
  PRIMARY KEY (project, tag, memory)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO tag SELECT m.project, t.value, m.id FROM memory m, json_each(m.tags) t;

CREATE INDEX memory_kind ON memory (project, kind);
CREATE INDEX memory_scope ON memory (project, scope) WHERE scope IS NOT NULL;
CREATE INDEX memory_session ON memory (project, session) WHERE session IS NOT NULL;
