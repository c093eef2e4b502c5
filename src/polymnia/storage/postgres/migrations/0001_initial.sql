-- Rows of a project are numbered by one counter: id = project << 32 | number. So the rows a change made are
-- one range of numbers, ids order rows by their making, and a text search in one project is one range of ids.
--
-- Every table of rows is partitioned by the project, so that a project lives in one partition of each; the partitions
-- themselves are made after this file. There are no foreign keys: whatever writes to a project holds the lock of its
-- row, and keys would cost every insert. Texts are ordered by code points. JSON is kept as text, byte for byte.
--
-- A B-tree entry has at most 2,704 bytes, but a name, kind, tag or id may be far longer. Their indexes hold the first
-- 200 characters, a unique one also a hash of the whole if there are more. A statement compares both: the first 200
-- characters to use the index, and the whole.

CREATE TABLE project (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name     text COLLATE "C" NOT NULL UNIQUE,
  seq      bigint NOT NULL DEFAULT 0,  -- the last number given to a row
  indexed  bigint NOT NULL DEFAULT 0,  -- rows up to this number are in gram; later ones are scanned
  texts    bigint NOT NULL DEFAULT 0,  -- how many memories and observations there are
  touched  bigint NOT NULL DEFAULT 0,  -- time of the last change: times in the journal never run backwards
  listed   bigint NOT NULL DEFAULT 0,  -- texts up to this number are in the word index
  passages bigint NOT NULL DEFAULT 0,  -- the last number given to a passage
  edition  bigint NOT NULL DEFAULT 0   -- how often the word index was begun anew
) WITH (fillfactor = 50);              -- every change updates the row: leave room for its versions

CREATE TABLE fact (
  project bigint NOT NULL,
  key     text COLLATE "C" NOT NULL,
  value   text COLLATE "C" NOT NULL,
  PRIMARY KEY (project, key)
) PARTITION BY HASH (project);

CREATE TABLE memory (
  project      bigint NOT NULL,
  id           bigint NOT NULL,
  created      bigint NOT NULL,
  updated      bigint NOT NULL,
  version      bigint NOT NULL,
  look         bigint NOT NULL,    -- a hash of what the name looks like
  uid          text COLLATE "C" NOT NULL,
  name         text COLLATE "C" NOT NULL,
  kind         text COLLATE "C" NOT NULL,
  name_fold    bytea,              -- the folded form where it differs from the text, as for every *fold; may hold NUL
  kind_fold    bytea,
  scope        text COLLATE "C",
  session      text COLLATE "C",
  category     text COLLATE "C",
  content_type text COLLATE "C",
  summary      text COLLATE "C",
  tags         text COLLATE "C",   -- JSON, NULL when empty, as for metadata and extra
  metadata     text COLLATE "C",
  extra        text COLLATE "C",   -- keys a file carried that mean nothing to us; written back as they were
  PRIMARY KEY (project, id)
) PARTITION BY HASH (project);
CREATE UNIQUE INDEX memory_name ON memory
  (project, left(name, 200), (CASE WHEN length(name) > 200 THEN md5(name) END)) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX memory_uid ON memory
  (project, left(uid, 200), (CASE WHEN length(uid) > 200 THEN md5(uid) END)) NULLS NOT DISTINCT;
CREATE INDEX memory_look ON memory (project, look);
CREATE INDEX memory_kind ON memory (project, left(kind, 200), id);
CREATE INDEX memory_scope ON memory (project, left(scope, 200), id);  -- the default scope is NULL
CREATE INDEX memory_session ON memory (project, session) WHERE session IS NOT NULL;

CREATE TABLE observation (
  project bigint NOT NULL,
  id      bigint NOT NULL,
  memory  bigint NOT NULL,
  digest  bigint NOT NULL,         -- of the normal form: finds an equal text without an index over whole texts
  text    text COLLATE "C" NOT NULL,
  fold    bytea,
  PRIMARY KEY (project, id)
) PARTITION BY HASH (project);
CREATE INDEX observation_memory ON observation (project, memory, digest);
CREATE INDEX observation_digest ON observation (project, digest);

CREATE TABLE relation (
  project  bigint NOT NULL,
  id       bigint NOT NULL,
  created  bigint NOT NULL,
  strength double precision,
  source   text COLLATE "C" NOT NULL,
  target   text COLLATE "C" NOT NULL,
  type     text COLLATE "C" NOT NULL,
  context  text COLLATE "C",
  metadata text COLLATE "C",
  extra    text COLLATE "C",
  origin   text COLLATE "C" NOT NULL DEFAULT 'manual',
  PRIMARY KEY (project, id)
) PARTITION BY HASH (project);
CREATE INDEX relation_source ON relation (project, left(source, 200), left(target, 200), left(type, 200), id);
CREATE INDEX relation_target ON relation (project, left(target, 200), id);
-- Only what has a strength: relations that somebody drew by hand pay nothing for it.
CREATE INDEX relation_source_strength ON relation (project, left(source, 200), strength) WHERE strength IS NOT NULL;
CREATE INDEX relation_target_strength ON relation (project, left(target, 200), strength) WHERE strength IS NOT NULL;

-- Numbered like every row of a project, so that the journal tells of them and an undo brings them back.
CREATE TABLE session (
  project bigint NOT NULL,
  id      bigint NOT NULL,
  created bigint NOT NULL,
  name    text COLLATE "C" NOT NULL,
  PRIMARY KEY (project, id)
) PARTITION BY HASH (project);
CREATE UNIQUE INDEX session_name ON session (project, name);

-- The journal. A change is one call. What it created is the range of numbers (first, last]; what else it did
-- is in change_item, with the columns as they were before. The numbers of a project's changes grow, since they are
-- taken under the lock of the project; those of all projects together come from one sequence.
CREATE SEQUENCE change_id;
CREATE TABLE change (
  project bigint NOT NULL,
  id      bigint NOT NULL,
  at      bigint NOT NULL,
  first   bigint NOT NULL,
  last    bigint NOT NULL,
  undoes  bigint,
  who     text COLLATE "C" NOT NULL,
  action  text COLLATE "C" NOT NULL,
  account text COLLATE "C",        -- who made it, in parts: the key or OAuth user, the client, the dialect and the tool
  client  text COLLATE "C",
  dialect text COLLATE "C",
  tool    text COLLATE "C",
  PRIMARY KEY (project, id)
) PARTITION BY HASH (project);
CREATE INDEX change_project ON change (project, first, id);
CREATE INDEX change_undoes ON change (project, undoes) WHERE undoes IS NOT NULL;

CREATE TABLE change_item (
  project bigint NOT NULL,
  change  bigint NOT NULL,
  n       bigint NOT NULL,
  ref     bigint NOT NULL,           -- the row
  owner   bigint NOT NULL,           -- the memory it belongs to; a relation belongs to itself
  op      text COLLATE "C" NOT NULL, -- i: put back under its old number, u: updated, d: deleted, p: purged
  kind    text COLLATE "C" NOT NULL, -- m: memory, o: observation, r: relation, s: session
  before  text COLLATE "C",          -- JSON of the columns it had: all for d, the changed ones for u
  name    text COLLATE "C",          -- d: name of the memory, or source of the relation
  other   text COLLATE "C",          -- d: target of the relation
  PRIMARY KEY (project, change, n)
) PARTITION BY HASH (project);
CREATE INDEX change_item_owner ON change_item (project, owner);
CREATE INDEX change_item_name ON change_item (project, left(name, 200)) WHERE name IS NOT NULL;
CREATE INDEX change_item_other ON change_item (project, left(other, 200)) WHERE other IS NOT NULL;

-- The hashes of one, two and three adjacent characters of every name, kind and observation, folded.
CREATE TABLE gram (
  project bigint NOT NULL,
  id      bigint NOT NULL,
  grams   integer[] STORAGE EXTERNAL NOT NULL,
  PRIMARY KEY (id, project)  -- an index that begins with the project would be read whole beside that of the grams
) PARTITION BY HASH (project);
CREATE INDEX gram_grams ON gram USING gin (grams) WITH (fastupdate = on);

-- The word index and the vectors. Both are made of the texts and can be made again from them.
-- Passages, packed by the hundred: fixed rows of numbers that are read into memory as they are.
CREATE TABLE passage_block (
  project bigint NOT NULL,
  first   bigint NOT NULL,
  count   bigint NOT NULL,
  low     bigint NOT NULL,           -- the lowest and the highest number of a text in the block
  high    bigint NOT NULL,
  data    bytea STORAGE EXTERNAL NOT NULL,
  PRIMARY KEY (project, first)
) PARTITION BY HASH (project);

-- Where each term stands. One row for each time texts were indexed together: rows are added, hardly ever changed.
CREATE TABLE posting (
  project bigint NOT NULL,
  first   bigint NOT NULL,           -- the number of the first passage of that time
  term    text COLLATE "C" NOT NULL,
  data    bytea STORAGE EXTERNAL NOT NULL,
  PRIMARY KEY (project, term, first)
) PARTITION BY HASH (project);

-- Indexed texts that have been deleted. An undo takes them out again: the text of a row never changes.
CREATE TABLE gone (
  project bigint NOT NULL,
  id      bigint NOT NULL,
  PRIMARY KEY (project, id)
) PARTITION BY HASH (project);

-- Texts to index once more: heads of memories that have changed, and texts that were away when the index came by.
CREATE TABLE stale (
  project bigint NOT NULL,
  id      bigint NOT NULL,
  PRIMARY KEY (project, id)
) PARTITION BY HASH (project);

CREATE TABLE model (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text COLLATE "C" NOT NULL UNIQUE,
  dimensions bigint NOT NULL
);

-- Numbered in the order of arrival within a project, so that every process can ask for what is new.
CREATE SEQUENCE vector_id;
CREATE TABLE vector (
  project bigint NOT NULL,
  id      bigint NOT NULL,
  model   bigint NOT NULL,
  text    bigint NOT NULL,
  part    bigint NOT NULL,
  half    bytea STORAGE EXTERNAL NOT NULL,
  PRIMARY KEY (project, id)
) PARTITION BY HASH (project);
CREATE UNIQUE INDEX vector_text ON vector (project, text, part, model);

-- The signs of the numbers of a vector, apart: reading them all must not read all vectors.
CREATE TABLE vector_bits (
  project bigint NOT NULL,
  model   bigint NOT NULL,
  id      bigint NOT NULL,           -- of the vector
  text    bigint NOT NULL,           -- the number of the text within the project
  part    bigint NOT NULL,
  bits    bytea STORAGE EXTERNAL NOT NULL,
  PRIMARY KEY (project, model, id)
) PARTITION BY HASH (project);

-- The tags of the memories there are, so that a tag finds its memories.
CREATE TABLE tag (
  project bigint NOT NULL,
  memory  bigint NOT NULL,
  tag     text COLLATE "C" NOT NULL
) PARTITION BY HASH (project);
CREATE UNIQUE INDEX tag_tag ON tag
  (project, left(tag, 200), memory, (CASE WHEN length(tag) > 200 THEN md5(tag) END)) NULLS NOT DISTINCT;

-- The texts in a JSON list of tags. A column that holds something else, or what no text may hold, has none.
CREATE FUNCTION tags_in(tags text) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (t.value #>> '{}') COLLATE "C" FROM json_array_elements(
    CASE WHEN tags IS JSON ARRAY AND tags !~* '\\u(0000|d[89a-f])' THEN tags::json ELSE '[]' END) AS t (value)
  WHERE json_typeof(t.value) = 'string'
$$;

-- How often memories are read: by whom, and within which hour since 1970. Counts, not memories: they are no part of the
-- journal, and what is deleted for good takes its counts along.
CREATE TABLE seen (
  project bigint NOT NULL,
  memory  bigint NOT NULL,           -- its id; a deleted memory may come back
  hour    bigint NOT NULL,
  opened  bigint NOT NULL,           -- by its name or id
  found   bigint NOT NULL,           -- among the results of a search
  who     text COLLATE "C" NOT NULL,
  PRIMARY KEY (project, memory, hour, who)
) PARTITION BY HASH (project);

-- How many memories are in each scope ('' is the default one). Kept by the database itself: whatever adds, moves,
-- deletes or brings back a memory, the counts are right. A count is the sum of sixteen, by the last bits of the id:
-- every version of a row that one transaction updates again and again is in the way of the next update.
CREATE TABLE scope (
  project  bigint NOT NULL,
  slot     bigint NOT NULL,
  memories bigint NOT NULL,
  path     text COLLATE "C" NOT NULL
) PARTITION BY HASH (project);
CREATE UNIQUE INDEX scope_path ON scope
  (project, left(path, 200), slot, (CASE WHEN length(path) > 200 THEN md5(path) END)) NULLS NOT DISTINCT;

-- New memories are counted once for each statement: a batch of them updates a few rows.
CREATE FUNCTION count_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO scope AS s (project, slot, memories, path)
  SELECT m.project, m.id & 15, count(*), coalesce(m.scope, '') FROM made m GROUP BY 1, 2, 4
  ON CONFLICT (project, left(path, 200), slot, (CASE WHEN length(path) > 200 THEN md5(path) END))
  DO UPDATE SET memories = s.memories + excluded.memories;
  RETURN NULL;
END
$$;
CREATE FUNCTION count_scope() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  here text := coalesce(OLD.scope, '');
BEGIN
  UPDATE scope s SET memories = s.memories - 1
  WHERE s.project = OLD.project AND left(s.path, 200) = left(here, 200) AND s.slot = OLD.id & 15 AND s.path = here;
  DELETE FROM scope s
  WHERE s.project = OLD.project AND left(s.path, 200) = left(here, 200) AND s.slot = OLD.id & 15 AND s.path = here
    AND s.memories = 0;
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO scope AS s (project, slot, memories, path) VALUES (NEW.project, NEW.id & 15, 1, coalesce(NEW.scope, ''))
    ON CONFLICT (project, left(path, 200), slot, (CASE WHEN length(path) > 200 THEN md5(path) END))
    DO UPDATE SET memories = s.memories + 1;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER scope_gains AFTER INSERT ON memory REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION count_new();
CREATE TRIGGER scope_loses AFTER DELETE ON memory FOR EACH ROW EXECUTE FUNCTION count_scope();
CREATE TRIGGER scope_changes AFTER UPDATE OF scope ON memory FOR EACH ROW
  WHEN (NEW.scope IS DISTINCT FROM OLD.scope) EXECUTE FUNCTION count_scope();
