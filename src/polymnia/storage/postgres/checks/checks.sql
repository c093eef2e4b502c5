-- The statements of the checks. Most take :low and :top (the rows to examine), :project and :session.

-- name: memory_ids
SELECT id FROM memory WHERE project = CAST(:top AS bigint) >> 32 AND id > :low AND id <= :top;

-- name: text_ids
SELECT id FROM observation WHERE project = CAST(:top AS bigint) >> 32 AND id > :low AND id <= :top;

-- name: newest_memory
-- view.py, low: the row above which the newest ones are examined.
SELECT id FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id DESC LIMIT 1 OFFSET $3;

-- name: newest_observation
-- view.py, low
SELECT id FROM observation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id DESC LIMIT 1 OFFSET $3;

-- name: newest_relation
-- view.py, low
SELECT id FROM relation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id DESC LIMIT 1 OFFSET $3;

-- name: count_memory
-- view.py, low
SELECT count(*) FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2;

-- name: count_observation
-- view.py, low
SELECT count(*) FROM observation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2;

-- name: count_relation
-- view.py, low
SELECT count(*) FROM relation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2;

-- name: ids_memory
-- memories.py, journal_items: the rows there are.
SELECT id FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2;

-- name: ids_observation
-- memories.py, journal_items
SELECT id FROM observation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2;

-- name: ids_relation
-- memories.py, journal_items
SELECT id FROM relation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2;

-- name: ids_session
-- memories.py, journal_items
SELECT id FROM session WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2;

-- name: uid_of_memory
SELECT convert_to(uid, 'UTF8') FROM memory WHERE project = $1::bigint >> 32 AND id = $1;

-- name: uid_of_text
SELECT convert_to(m.uid, 'UTF8') FROM observation o JOIN memory m ON m.project = $1::bigint >> 32 AND m.id = o.memory
WHERE o.project = $1::bigint >> 32 AND o.id = $1;

-- name: scope_counts
SELECT path, sum(stored)::bigint, sum(actual)::bigint FROM (
  SELECT path, memories AS stored, 0 AS actual FROM scope WHERE project = $1
  UNION ALL SELECT coalesce(scope, ''), 0, count(*) FROM memory WHERE project = $1 GROUP BY 1
) AS counts GROUP BY path HAVING sum(stored) <> sum(actual) ORDER BY path;

-- name: tagged
SELECT id, uid, convert_to(tags, 'UTF8') FROM memory
WHERE project = CAST(:top AS bigint) >> 32 AND id > :low AND id <= :top AND tags IS NOT NULL
  AND (CAST(:session AS text) IS NULL OR session = :session);

-- name: tag_rows
SELECT memory, tag FROM tag WHERE project = $1 AND memory > $2;

-- name: session_of_memory
SELECT session FROM memory WHERE project = $1::bigint >> 32 AND id = $1;

-- name: last_row
SELECT max(id) FROM (
  SELECT max(id) AS id FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
  UNION ALL SELECT max(id) FROM observation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
  UNION ALL SELECT max(id) FROM relation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
  UNION ALL SELECT max(id) FROM session WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
) AS last;

-- name: session_missing
SELECT DISTINCT 0, m.session FROM memory m
WHERE m.project = CAST(:top AS bigint) >> 32 AND m.id > :low AND m.id <= :top AND m.session IS NOT NULL
  AND (CAST(:session AS text) IS NULL OR m.session = :session)
  AND NOT EXISTS (SELECT 1 FROM session s WHERE s.project = CAST(:top AS bigint) >> 32 AND s.name = m.session)
ORDER BY 2;

-- name: session_differs
-- The session a scope belongs to is its second part, if the first is `session`.
SELECT id, uid, scope, session FROM (
  SELECT id, uid, scope, session, CASE WHEN scope LIKE 'session/%' THEN substr(scope, 9) || '/' END AS rest
  FROM memory WHERE project = CAST(:top AS bigint) >> 32 AND id > :low AND id <= :top
    AND (CAST(:session AS text) IS NULL OR session = :session OR scope = 'session/' || CAST(:session AS text))
) AS m
WHERE session IS DISTINCT FROM CASE WHEN rest IS NOT NULL THEN substr(rest, 1, position('/' IN rest) - 1) END
ORDER BY id;

-- name: deleted_texts
SELECT ref FROM change_item WHERE project = $1 AND op = 'd' AND kind IN ('m', 'o');

-- name: vector_texts
SELECT DISTINCT text FROM vector WHERE project = $2::bigint >> 32 AND text > $1 AND text <= $2;

-- name: vectors_broken
SELECT coalesce(v.id, 0), ($1::bigint << 32) + b.text FROM vector_bits b
LEFT JOIN vector v ON v.project = $1 AND v.id = b.id
LEFT JOIN model m ON m.id = b.model
WHERE b.project = $1 AND ($1::bigint << 32) + b.text > $2 AND (
  m.id IS NULL OR v.id IS NULL OR v.text <> ($1::bigint << 32) + b.text OR v.part <> b.part OR v.model <> b.model
  OR (length(v.half) <> 0 AND length(v.half) <> 2 * m.dimensions)
  OR (length(b.bits) <> 0 AND length(b.bits) <> (m.dimensions + 7) / 8) OR (length(v.half) = 0) <> (length(b.bits) = 0))
UNION ALL
SELECT v.id, v.text FROM vector v WHERE v.project = $1 AND v.text > $2 AND v.text <= $3
  AND NOT EXISTS (SELECT 1 FROM vector_bits b WHERE b.project = $1 AND b.model = v.model AND b.id = v.id);

-- name: vectors_newest
SELECT id FROM vector_bits
WHERE project = $1 AND ($1::bigint << 32) + text > $2 AND ($1::bigint << 32) + text <= $3 ORDER BY id;

-- name: vector_of
-- Takes the project before the number: a vector's number does not tell it.
SELECT v.text, v.half, b.bits FROM vector v
JOIN vector_bits b ON b.project = $1 AND b.model = v.model AND b.id = v.id WHERE v.project = $1 AND v.id = $2;

-- name: scopes_in_use
SELECT DISTINCT scope FROM memory WHERE project = :project AND id > :low AND id <= :top AND scope IS NOT NULL
  AND (CAST(:session AS text) IS NULL OR session = :session);

-- name: memories_in_scope
SELECT id, uid, scope FROM memory
WHERE project = $1 AND left(scope, 200) = left($2::text, 200) AND scope = $2 ORDER BY id;

-- name: memory_json
SELECT id, uid, convert_to(tags, 'UTF8'), convert_to(metadata, 'UTF8'), convert_to(extra, 'UTF8') FROM memory
WHERE project = CAST(:top AS bigint) >> 32 AND id > :low AND id <= :top
  AND (tags IS NOT NULL OR metadata IS NOT NULL OR extra IS NOT NULL)
  AND (CAST(:session AS text) IS NULL OR session = :session) ORDER BY id;

-- name: relation_json
SELECT id, source, target, type, strength, convert_to(metadata, 'UTF8'), convert_to(extra, 'UTF8') FROM relation r
WHERE project = CAST(:top AS bigint) >> 32 AND id > :low AND id <= :top
  AND (metadata IS NOT NULL OR extra IS NOT NULL OR strength IS NOT NULL)
  AND (CAST(:session AS text) IS NULL OR EXISTS (
    SELECT 1 FROM memory m WHERE m.project = CAST(:top AS bigint) >> 32 AND m.session = :session
      AND left(m.name, 200) IN (left(r.source, 200), left(r.target, 200)) AND m.name IN (r.source, r.target)))
ORDER BY id;

-- name: time_ahead
SELECT id, uid, created, updated FROM memory
WHERE project = CAST(:top AS bigint) >> 32 AND id > :low AND id <= :top AND greatest(created, updated) > :border
  AND (CAST(:session AS text) IS NULL OR session = :session) ORDER BY id;

-- name: time_backwards
SELECT id, uid, created, updated FROM memory
WHERE project = CAST(:top AS bigint) >> 32 AND id > :low AND id <= :top AND updated < created AND created <= :border
  AND (CAST(:session AS text) IS NULL OR session = :session) ORDER BY id;

-- name: version_low
SELECT id, uid, version FROM memory
WHERE project = CAST(:top AS bigint) >> 32 AND id > :low AND id <= :top AND version < 1
  AND (CAST(:session AS text) IS NULL OR session = :session) ORDER BY id;

-- name: name_twice
SELECT max(id), name, count(*) FROM memory WHERE project = :project AND id > :low AND id <= :top
  AND (CAST(:session AS text) IS NULL OR session = :session) GROUP BY name HAVING count(*) > 1;

-- name: id_twice
SELECT max(id), uid, count(*) FROM memory WHERE project = :project AND id > :low AND id <= :top
  AND (CAST(:session AS text) IS NULL OR session = :session) GROUP BY uid HAVING count(*) > 1;

-- name: names
SELECT id, convert_to(uid, 'UTF8'), convert_to(name, 'UTF8'), convert_to(kind, 'UTF8'), convert_to(summary, 'UTF8'),
  convert_to(category, 'UTF8'), name_fold, kind_fold, look
FROM memory WHERE project = CAST(:top AS bigint) >> 32 AND id > :low AND id <= :top
  AND (CAST(:session AS text) IS NULL OR session = :session) ORDER BY id;

-- name: texts
SELECT o.id, o.memory, convert_to(o.text, 'UTF8'), o.fold, o.digest FROM observation o
LEFT JOIN memory m ON m.project = CAST(:top AS bigint) >> 32 AND m.id = o.memory
WHERE o.project = CAST(:top AS bigint) >> 32 AND o.id > :low AND o.id <= :top
  AND (CAST(:session AS text) IS NULL OR m.session = :session) ORDER BY o.id;

-- name: relations_loose
SELECT r.id, r.source, r.target, r.type, r.origin, convert_to(r.metadata, 'UTF8'), s.id, t.id
FROM relation r
LEFT JOIN memory s ON s.project = CAST(:top AS bigint) >> 32
  AND left(s.name, 200) = left(r.source, 200) AND s.name = r.source
LEFT JOIN memory t ON t.project = CAST(:top AS bigint) >> 32
  AND left(t.name, 200) = left(r.target, 200) AND t.name = r.target
WHERE r.project = CAST(:top AS bigint) >> 32 AND r.id > :low AND r.id <= :top AND (s.id IS NULL OR t.id IS NULL)
  AND (CAST(:session AS text) IS NULL OR s.session = :session OR t.session = :session)
ORDER BY r.id;

-- name: relations_marked
-- A marked relation that is older than one of its ends: that end was deleted and stored again.
SELECT r.id, r.source, r.target, r.type, convert_to(r.metadata, 'UTF8')
FROM relation r
JOIN memory s ON s.project = CAST(:top AS bigint) >> 32
  AND left(s.name, 200) = left(r.source, 200) AND s.name = r.source
JOIN memory t ON t.project = CAST(:top AS bigint) >> 32
  AND left(t.name, 200) = left(r.target, 200) AND t.name = r.target
WHERE r.project = CAST(:top AS bigint) >> 32 AND r.id > :low AND r.id <= :top AND (s.id > r.id OR t.id > r.id)
  AND r.metadata LIKE '%"deleted"%'
  AND (CAST(:session AS text) IS NULL OR s.session = :session OR t.session = :session)
ORDER BY r.id;

-- name: was_deleted_after
-- Only a relation older than the deletion has lost its end by it; a later one waits for a new record.
SELECT 1 FROM change_item i JOIN change c ON c.project = $3::bigint >> 32 AND c.id = i.change
WHERE i.project = $3::bigint >> 32 AND left(i.name, 200) = left($1::text, 200) AND i.name = $1
  AND i.kind = 'm' AND i.op = 'd' AND +i.owner > $2 AND +i.owner <= $3 AND c.first >= $4 LIMIT 1;

-- name: memory_metadata
SELECT id, uid, convert_to(metadata, 'UTF8') FROM memory
WHERE project = CAST(:top AS bigint) >> 32 AND id > :low AND id <= :top AND metadata IS NOT NULL
  AND (CAST(:session AS text) IS NULL OR session = :session) ORDER BY id;

-- name: relation_contexts
SELECT r.id, convert_to(r.context, 'UTF8'), convert_to(r.metadata, 'UTF8') FROM relation r
WHERE r.project = CAST(:top AS bigint) >> 32 AND r.id > :low AND r.id <= :top
  AND (r.context IS NOT NULL OR r.metadata IS NOT NULL)
  AND (CAST(:session AS text) IS NULL OR EXISTS (
    SELECT 1 FROM memory m WHERE m.project = CAST(:top AS bigint) >> 32 AND m.session = :session
      AND left(m.name, 200) IN (left(r.source, 200), left(r.target, 200)) AND m.name IN (r.source, r.target)))
ORDER BY r.id;

-- name: has_uid
SELECT 1 FROM memory WHERE project = $1 AND left(uid, 200) = left($2::text, 200) AND uid = $2;

-- name: deleted_states
SELECT convert_to(before, 'UTF8') FROM change_item WHERE project = $1 AND op = 'd' AND kind = 'm';

-- name: observation_orphan
SELECT o.id, o.id - CAST(:base AS bigint), o.memory FROM observation o
WHERE o.project = CAST(:top AS bigint) >> 32 AND o.id > :low AND o.id <= :top
  AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.project = CAST(:top AS bigint) >> 32 AND m.id = o.memory)
ORDER BY o.id;

-- name: change_ranges
SELECT id, first, last FROM change WHERE project = $1 AND last > first ORDER BY first, id;

-- name: rows_between
SELECT id FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
UNION ALL SELECT id FROM observation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
UNION ALL SELECT id FROM relation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
UNION ALL SELECT id FROM session WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2;

-- name: journal_items
SELECT change, n, op, kind, ref, convert_to(before, 'UTF8') FROM change_item WHERE project = $1 ORDER BY change, n;

-- name: journal_gone
SELECT DISTINCT kind, ref FROM change_item WHERE project = $1 AND op IN ('d', 'p');

-- name: undoes_nothing
SELECT c.id, c.undoes FROM change c WHERE c.project = $1 AND c.undoes IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM change o WHERE o.project = $1 AND o.id = c.undoes);

-- name: indexed_characters
SELECT id FROM gram WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2;

-- name: text_of
SELECT name FROM memory WHERE project = $1::bigint >> 32 AND id = $1
UNION ALL SELECT text FROM observation WHERE project = $1::bigint >> 32 AND id = $1;

-- name: owner
SELECT uid, session FROM memory WHERE project = $1::bigint >> 32 AND id = $1
UNION ALL
SELECT m.uid, m.session FROM observation o JOIN memory m ON m.project = $1::bigint >> 32 AND m.id = o.memory
WHERE o.project = $1::bigint >> 32 AND o.id = $1;

-- name: postings
SELECT term, first, data FROM posting WHERE project = $1;

-- name: vectors_of_model
SELECT b.text, b.part, length(b.bits) FROM vector_bits b
JOIN model m ON m.id = b.model WHERE b.project = $1 AND m.name = $2;

-- name: text_very_long
SELECT o.id, m.uid, length(o.text) FROM observation o
JOIN memory m ON m.project = CAST(:top AS bigint) >> 32 AND m.id = o.memory
WHERE o.project = CAST(:top AS bigint) >> 32 AND o.id > :low AND o.id <= :top
  AND octet_length(o.text) > CAST(:long AS bigint) AND length(o.text) > CAST(:long AS bigint)
  AND (CAST(:session AS text) IS NULL OR m.session = :session) ORDER BY 3 DESC;

-- name: hubs
SELECT name, CAST(sum(links) AS bigint) FROM (
  SELECT source AS name, count(*) AS links FROM relation WHERE project = :project GROUP BY source
  UNION ALL
  SELECT target, count(*) FROM relation WHERE project = :project GROUP BY target
) AS ends GROUP BY name HAVING sum(links) > CAST(:hub AS bigint) ORDER BY 2 DESC, 1;

-- name: memory_of_name
SELECT id, uid, session FROM memory WHERE project = $1 AND left(name, 200) = left($2::text, 200) AND name = $2;

-- name: json_of_memory
SELECT convert_to(tags, 'UTF8'), convert_to(metadata, 'UTF8'), convert_to(extra, 'UTF8')
FROM memory WHERE project = $1::bigint >> 32 AND id = $1;

-- name: json_of_relation
SELECT convert_to(metadata, 'UTF8'), convert_to(extra, 'UTF8')
FROM relation WHERE project = $1::bigint >> 32 AND id = $1;

-- name: set_seq
-- __init__.py, _row_number
UPDATE project SET seq = $1 WHERE id = $2;

-- name: name_and_kind
-- __init__.py, _folds
SELECT name, kind FROM memory WHERE project = $1::bigint >> 32 AND id = $1;

-- name: set_head_folds
-- __init__.py, _folds
UPDATE memory SET name_fold = $1, kind_fold = $2, look = $3 WHERE project = $4::bigint >> 32 AND id = $4;

-- name: observation_text
-- __init__.py, _folds
SELECT text FROM observation WHERE project = $1::bigint >> 32 AND id = $1;

-- name: set_text_fold
-- __init__.py, _folds
UPDATE observation SET fold = $1, digest = $2 WHERE project = $3::bigint >> 32 AND id = $3;

-- name: drop_bits_of_text
-- __init__.py, _vectors: the project, and the number of the text within it.
DELETE FROM vector_bits WHERE project = $1 AND text = $2;

-- name: drop_vectors_of_text
-- __init__.py, _vectors
DELETE FROM vector WHERE project = $1::bigint >> 32 AND text = $1;

-- name: clear_tags
-- __init__.py, _memory_json
UPDATE memory SET tags = NULL WHERE project = $1::bigint >> 32 AND id = $1;

-- name: clear_metadata
-- __init__.py, _memory_json
UPDATE memory SET metadata = NULL WHERE project = $1::bigint >> 32 AND id = $1;

-- name: clear_extra
-- __init__.py, _memory_json
UPDATE memory SET extra = NULL WHERE project = $1::bigint >> 32 AND id = $1;

-- name: set_tags
-- __init__.py, _mixed_tags
UPDATE memory SET tags = $1 WHERE project = $2::bigint >> 32 AND id = $2;

-- name: clear_relation_metadata
-- __init__.py, _relation_json
UPDATE relation SET metadata = NULL WHERE project = $1::bigint >> 32 AND id = $1;

-- name: clear_relation_extra
-- __init__.py, _relation_json
UPDATE relation SET extra = NULL WHERE project = $1::bigint >> 32 AND id = $1;

-- name: set_owner
-- __init__.py, _orphans
UPDATE observation SET memory = $1 WHERE project = $2::bigint >> 32 AND id = $2;

-- name: rows_without_parent
-- indexes.py, foreign_keys: over all projects, since no key keeps them.
SELECT child, parent, count(*) FROM (
  SELECT 'fact' AS child, 'project' AS parent FROM fact c
    WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = c.project)
  UNION ALL SELECT 'memory', 'project' FROM memory c
    WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = c.project)
  UNION ALL SELECT 'relation', 'project' FROM relation c
    WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = c.project)
  UNION ALL SELECT 'session', 'project' FROM session c
    WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = c.project)
  UNION ALL SELECT 'change', 'project' FROM change c
    WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = c.project)
  UNION ALL SELECT 'passage_block', 'project' FROM passage_block c
    WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = c.project)
  UNION ALL SELECT 'posting', 'project' FROM posting c
    WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = c.project)
  UNION ALL SELECT 'vector_bits', 'project' FROM vector_bits c
    WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = c.project)
  UNION ALL SELECT 'tag', 'project' FROM tag c
    WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = c.project)
  UNION ALL SELECT 'scope', 'project' FROM scope c
    WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = c.project)
  UNION ALL SELECT 'vector', 'model' FROM vector c
    WHERE NOT EXISTS (SELECT 1 FROM model p WHERE p.id = c.model)
  UNION ALL SELECT 'vector_bits', 'model' FROM vector_bits c
    WHERE NOT EXISTS (SELECT 1 FROM model p WHERE p.id = c.model)
  UNION ALL SELECT 'change_item', 'change' FROM change_item c
    WHERE NOT EXISTS (SELECT 1 FROM change p WHERE p.project = c.project AND p.id = c.change)
  UNION ALL SELECT 'change', 'change' FROM change c WHERE c.undoes IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM change p WHERE p.project = c.project AND p.id = c.undoes)
) AS lost GROUP BY child, parent ORDER BY child, parent;

-- name: objects
-- indexes.py, missing_objects: what there is in the schema, but for the partitions, and invalid indexes as if they were
-- not there.
SELECT CASE WHEN c.relkind IN ('r', 'p') THEN 'table' WHEN c.relkind = 'S' THEN 'sequence' ELSE 'index' END,
  c.relname::text
FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'S', 'i', 'I')
  AND NOT c.relispartition AND i.indisvalid IS NOT FALSE
UNION ALL
SELECT 'trigger', t.tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = current_schema()::regnamespace AND NOT c.relispartition
  AND NOT t.tgisinternal AND t.tgenabled <> 'D'
UNION ALL
SELECT 'function', p.proname::text FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace
ORDER BY 1, 2;
