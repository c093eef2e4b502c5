-- Rows of a project are numbered by one counter: id = project << 32 | number. So the rows a change made are
-- one range of numbers, ids order rows by their making, and a text search in one project is one range of ids.

CREATE TABLE project (
  id      INTEGER PRIMARY KEY,
  name    TEXT NOT NULL UNIQUE,
  seq     INTEGER NOT NULL DEFAULT 0,  -- the last number given to a row
  indexed INTEGER NOT NULL DEFAULT 0,  -- rows up to this number are in gram; later ones are scanned
  texts   INTEGER NOT NULL DEFAULT 0,  -- how many memories and observations there are
  touched INTEGER NOT NULL DEFAULT 0   -- time of the last change: times in the journal never run backwards
) STRICT;

CREATE TABLE fact (
  project INTEGER NOT NULL REFERENCES project (id),
  key     TEXT NOT NULL,
  value   TEXT NOT NULL,
  PRIMARY KEY (project, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory (
  id           INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL REFERENCES project (id),
  uid          TEXT NOT NULL,
  name         TEXT NOT NULL,
  kind         TEXT NOT NULL,
  name_fold    TEXT,              -- the folded form where it differs from the text, as for every *fold
  kind_fold    TEXT,
  look         INTEGER NOT NULL,  -- a hash of what the name looks like
  scope        TEXT,
  session      TEXT,
  category     TEXT,
  content_type TEXT,
  summary      TEXT,
  tags         TEXT,              -- JSON, NULL when empty, as for metadata and extra
  metadata     TEXT,
  extra        TEXT,              -- keys a file carried that mean nothing to us; written back as they were
  created      INTEGER NOT NULL,
  updated      INTEGER NOT NULL,
  version      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX memory_name ON memory (project, name);
CREATE UNIQUE INDEX memory_uid ON memory (project, uid);
CREATE INDEX memory_look ON memory (project, look);

CREATE TABLE observation (
  id     INTEGER PRIMARY KEY,
  memory INTEGER NOT NULL REFERENCES memory (id),
  digest INTEGER NOT NULL,        -- finds an equal text without an index over whole texts
  text   TEXT NOT NULL,
  fold   TEXT
) STRICT;
CREATE INDEX observation_memory ON observation (memory, digest);

CREATE TABLE relation (
  id       INTEGER PRIMARY KEY,
  project  INTEGER NOT NULL REFERENCES project (id),
  source   TEXT NOT NULL,
  target   TEXT NOT NULL,
  type     TEXT NOT NULL,
  strength REAL,
  context  TEXT,
  metadata TEXT,
  extra    TEXT,
  origin   TEXT NOT NULL DEFAULT 'manual',
  created  INTEGER NOT NULL
) STRICT;
CREATE INDEX relation_source ON relation (project, source, target, type);
CREATE INDEX relation_target ON relation (project, target);

-- The journal. A change is one call. What it created is the range of numbers (first, last]; what else it did
-- is in change_item, with the columns as they were before.
CREATE TABLE change (
  id      INTEGER PRIMARY KEY,  -- changes are never deleted, so numbers are never given twice
  project INTEGER NOT NULL REFERENCES project (id),
  at      INTEGER NOT NULL,
  who     TEXT NOT NULL,
  action  TEXT NOT NULL,
  first   INTEGER NOT NULL,
  last    INTEGER NOT NULL,
  undoes  INTEGER REFERENCES change (id)
) STRICT;
CREATE INDEX change_project ON change (project, first);
CREATE INDEX change_undoes ON change (undoes) WHERE undoes IS NOT NULL;

CREATE TABLE change_item (
  change INTEGER NOT NULL REFERENCES change (id),
  n      INTEGER NOT NULL,
  op     TEXT NOT NULL,           -- i: put back under its old number, u: updated, d: deleted, p: purged
  kind   TEXT NOT NULL,           -- m: memory, o: observation, r: relation
  ref    INTEGER NOT NULL,        -- the row
  owner  INTEGER NOT NULL,        -- the memory it belongs to; a relation belongs to itself
  before TEXT,                    -- JSON of the columns it had: all for d, the changed ones for u
  name   TEXT,                    -- d: name of the memory, or source of the relation
  other  TEXT,                    -- d: target of the relation
  PRIMARY KEY (change, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX change_item_owner ON change_item (owner);
CREATE INDEX change_item_name ON change_item (name) WHERE name IS NOT NULL;
CREATE INDEX change_item_other ON change_item (other) WHERE other IS NOT NULL;

-- Every three characters of every name, kind and observation, folded. Holds no text of its own.
CREATE VIRTUAL TABLE gram USING fts5 (
  text, content = '', contentless_delete = 1, detail = none,
  tokenize = 'trigram case_sensitive 1'
);
CREATE VIRTUAL TABLE gram_term USING fts5vocab (gram, row);
