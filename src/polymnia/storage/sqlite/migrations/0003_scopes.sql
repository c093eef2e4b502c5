-- Scopes with their counts, sessions, and the strongest relations of a memory.

-- A memory without a scope is in the default one. So that those are found as quickly as all others:
DROP INDEX memory_scope;
CREATE INDEX memory_scope ON memory (project, scope);

-- How many memories are in each scope ('' is the default one). Kept by the database itself: whatever adds, moves,
-- deletes or brings back a memory, the counts are right.
CREATE TABLE scope (
  project  INTEGER NOT NULL REFERENCES project (id),
  path     TEXT NOT NULL,
  memories INTEGER NOT NULL,
  PRIMARY KEY (project, path)
) STRICT, WITHOUT ROWID;
INSERT INTO scope SELECT project, coalesce(scope, ''), count(*) FROM memory GROUP BY 1, 2;

CREATE TRIGGER scope_gains AFTER INSERT ON memory BEGIN
  INSERT INTO scope (project, path, memories) VALUES (NEW.project, coalesce(NEW.scope, ''), 1)
  ON CONFLICT DO UPDATE SET memories = memories + 1;
END;
CREATE TRIGGER scope_loses AFTER DELETE ON memory BEGIN
  UPDATE scope SET memories = memories - 1 WHERE project = OLD.project AND path = coalesce(OLD.scope, '');
  DELETE FROM scope WHERE project = OLD.project AND path = coalesce(OLD.scope, '') AND memories = 0;
END;
CREATE TRIGGER scope_changes AFTER UPDATE OF scope ON memory WHEN NEW.scope IS NOT OLD.scope BEGIN
  UPDATE scope SET memories = memories - 1 WHERE project = OLD.project AND path = coalesce(OLD.scope, '');
  DELETE FROM scope WHERE project = OLD.project AND path = coalesce(OLD.scope, '') AND memories = 0;
  INSERT INTO scope (project, path, memories) VALUES (NEW.project, coalesce(NEW.scope, ''), 1)
  ON CONFLICT DO UPDATE SET memories = memories + 1;
END;

-- Numbered like every row of a project, so that the journal tells of them and an undo brings them back.
CREATE TABLE session (
  id      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL REFERENCES project (id),
  name    TEXT NOT NULL,
  created INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_name ON session (project, name);

-- Only what has a strength: relations that somebody drew by hand pay nothing for it.
CREATE INDEX relation_source_strength ON relation (project, source, strength) WHERE strength IS NOT NULL;
CREATE INDEX relation_target_strength ON relation (project, target, strength) WHERE strength IS NOT NULL;
