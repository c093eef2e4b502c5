-- The statements of the checks. Most take :low and :top (the rows to examine), :project and :session.

-- name: memory_ids
SELECT id FROM memory WHERE id > :low AND id <= :top;

-- name: text_ids
SELECT id FROM observation WHERE id > :low AND id <= :top;

-- name: uid_of_memory
SELECT CAST(uid AS BLOB) FROM memory WHERE id = ?;

-- name: uid_of_text
SELECT CAST(m.uid AS BLOB) FROM observation o JOIN memory m ON m.id = o.memory WHERE o.id = ?;

-- name: scope_counts
SELECT path, sum(stored), sum(actual) FROM (
  SELECT path, memories AS stored, 0 AS actual FROM scope WHERE project = ?1
  UNION ALL SELECT coalesce(scope, ''), 0, count(*) FROM memory WHERE project = ?1 GROUP BY 1
) GROUP BY path HAVING sum(stored) <> sum(actual) ORDER BY path;

-- name: tagged
SELECT id, uid, CAST(tags AS BLOB) FROM memory
WHERE id > :low AND id <= :top AND tags IS NOT NULL AND (:session IS NULL OR session = :session);

-- name: tag_rows
SELECT memory, tag FROM tag WHERE project = ? AND memory > ?;

-- name: session_of_memory
SELECT session FROM memory WHERE id = ?;

-- name: last_row
SELECT max(id) FROM (SELECT max(id) AS id FROM memory WHERE id > ?1 AND id <= ?2
  UNION ALL SELECT max(id) FROM observation WHERE id > ?1 AND id <= ?2
  UNION ALL SELECT max(id) FROM relation WHERE id > ?1 AND id <= ?2
  UNION ALL SELECT max(id) FROM session WHERE id > ?1 AND id <= ?2);

-- name: session_missing
SELECT DISTINCT 0, m.session FROM memory m WHERE m.id > :low AND m.id <= :top AND m.session IS NOT NULL
  AND (:session IS NULL OR m.session = :session)
  AND NOT EXISTS (SELECT 1 FROM session s WHERE s.project = m.project AND s.name = m.session) ORDER BY 2;

-- name: session_differs
-- The session a scope belongs to is its second part, if the first is `session`.
SELECT id, uid, scope, session FROM (
  SELECT id, uid, scope, session,
    CASE WHEN scope LIKE 'session/%' THEN substr(scope, 9) || '/' END AS rest
  FROM memory WHERE id > :low AND id <= :top
    AND (:session IS NULL OR session = :session OR scope = 'session/' || :session)
) WHERE session IS NOT CASE WHEN rest IS NOT NULL THEN substr(rest, 1, instr(rest, '/') - 1) END ORDER BY id;

-- name: deleted_texts
SELECT i.ref FROM change c JOIN change_item i ON i.change = c.id
WHERE c.project = ? AND i.op = 'd' AND i.kind IN ('m', 'o');

-- name: vector_texts
SELECT DISTINCT text FROM vector WHERE text > ? AND text <= ?;

-- name: vectors_broken
SELECT coalesce(v.id, 0), ?1 << 32 | b.text FROM vector_bits b LEFT JOIN vector v ON v.id = b.id
LEFT JOIN model m ON m.id = b.model
WHERE b.project = ?1 AND (?1 << 32 | b.text) > ?2 AND (
  m.id IS NULL OR v.id IS NULL OR v.text <> (?1 << 32 | b.text) OR v.part <> b.part OR v.model <> b.model
  OR (length(v.half) <> 0 AND length(v.half) <> 2 * m.dimensions)
  OR (length(b.bits) <> 0 AND length(b.bits) <> (m.dimensions + 7) / 8) OR (length(v.half) = 0) <> (length(b.bits) = 0))
UNION ALL
SELECT v.id, v.text FROM vector v WHERE v.text > ?2 AND v.text <= ?3
  AND NOT EXISTS (SELECT 1 FROM vector_bits b WHERE b.project = ?1 AND b.model = v.model AND b.id = v.id);

-- name: vectors_newest
SELECT id FROM vector_bits WHERE project = ?1 AND (?1 << 32 | text) > ?2 AND (?1 << 32 | text) <= ?3;

-- name: vector_of
SELECT v.text, v.half, b.bits FROM vector v
JOIN vector_bits b ON b.project = v.text >> 32 AND b.model = v.model AND b.id = v.id WHERE v.id = ?2;

-- name: scopes_in_use
SELECT DISTINCT scope FROM memory WHERE project = :project AND id > :low AND id <= :top AND scope IS NOT NULL
  AND (:session IS NULL OR session = :session);

-- name: memories_in_scope
SELECT id, uid, scope FROM memory WHERE project = ? AND scope = ? ORDER BY id;

-- name: memory_json
SELECT id, uid, CAST(tags AS BLOB), CAST(metadata AS BLOB), CAST(extra AS BLOB) FROM memory
WHERE id > :low AND id <= :top AND (tags IS NOT NULL OR metadata IS NOT NULL OR extra IS NOT NULL)
  AND (:session IS NULL OR session = :session) ORDER BY id;

-- name: relation_json
SELECT id, source, target, type, strength, CAST(metadata AS BLOB), CAST(extra AS BLOB) FROM relation
WHERE id > :low AND id <= :top AND (metadata IS NOT NULL OR extra IS NOT NULL OR strength IS NOT NULL)
  AND (:session IS NULL OR EXISTS (
    SELECT 1 FROM memory m WHERE m.project = relation.project AND m.session = :session AND m.name IN (source, target)))
ORDER BY id;

-- name: time_ahead
SELECT id, uid, created, updated FROM memory WHERE id > :low AND id <= :top AND max(created, updated) > :border
  AND (:session IS NULL OR session = :session) ORDER BY id;

-- name: time_backwards
SELECT id, uid, created, updated FROM memory
WHERE id > :low AND id <= :top AND updated < created AND created <= :border
  AND (:session IS NULL OR session = :session) ORDER BY id;

-- name: version_low
SELECT id, uid, version FROM memory WHERE id > :low AND id <= :top AND version < 1
  AND (:session IS NULL OR session = :session) ORDER BY id;

-- name: name_twice
SELECT max(id), name, count(*) FROM memory NOT INDEXED WHERE project = :project AND id > :low AND id <= :top
  AND (:session IS NULL OR session = :session) GROUP BY name HAVING count(*) > 1;

-- name: id_twice
SELECT max(id), uid, count(*) FROM memory NOT INDEXED WHERE project = :project AND id > :low AND id <= :top
  AND (:session IS NULL OR session = :session) GROUP BY uid HAVING count(*) > 1;

-- name: names
SELECT id, CAST(uid AS BLOB), CAST(name AS BLOB), CAST(kind AS BLOB), CAST(summary AS BLOB), CAST(category AS BLOB),
  CAST(name_fold AS BLOB), CAST(kind_fold AS BLOB), look
FROM memory WHERE id > :low AND id <= :top AND (:session IS NULL OR session = :session) ORDER BY id;

-- name: texts
SELECT o.id, o.memory, CAST(o.text AS BLOB), CAST(o.fold AS BLOB), o.digest FROM observation o
LEFT JOIN memory m ON m.id = o.memory
WHERE o.id > :low AND o.id <= :top AND (:session IS NULL OR m.session = :session) ORDER BY o.id;

-- name: relations_loose
SELECT r.id, r.source, r.target, r.type, r.origin, CAST(r.metadata AS BLOB), s.id, t.id
FROM relation r
LEFT JOIN memory s ON s.project = r.project AND s.name = r.source
LEFT JOIN memory t ON t.project = r.project AND t.name = r.target
WHERE r.id > :low AND r.id <= :top AND (s.id IS NULL OR t.id IS NULL)
  AND (:session IS NULL OR s.session = :session OR t.session = :session)
ORDER BY r.id;

-- name: relations_marked
-- A marked relation that is older than one of its ends: that end was deleted and stored again.
SELECT r.id, r.source, r.target, r.type, CAST(r.metadata AS BLOB)
FROM relation r
JOIN memory s ON s.project = r.project AND s.name = r.source
JOIN memory t ON t.project = r.project AND t.name = r.target
WHERE r.id > :low AND r.id <= :top AND (s.id > r.id OR t.id > r.id) AND r.metadata LIKE '%"deleted"%'
  AND (:session IS NULL OR s.session = :session OR t.session = :session)
ORDER BY r.id;

-- name: was_deleted_after
-- Only a relation older than the deletion has lost its end by it; a later one waits for a new record.
SELECT 1 FROM change_item i JOIN change c ON c.id = i.change
WHERE i.kind = 'm' AND i.op = 'd' AND i.name = ? AND i.owner > ? AND i.owner <= ? AND c.first >= ? LIMIT 1;

-- name: memory_metadata
SELECT id, uid, CAST(metadata AS BLOB) FROM memory
WHERE id > :low AND id <= :top AND metadata IS NOT NULL AND (:session IS NULL OR session = :session) ORDER BY id;

-- name: relation_contexts
SELECT r.id, CAST(r.context AS BLOB), CAST(r.metadata AS BLOB) FROM relation r
WHERE r.id > :low AND r.id <= :top AND (r.context IS NOT NULL OR r.metadata IS NOT NULL)
  AND (:session IS NULL OR EXISTS (
    SELECT 1 FROM memory m WHERE m.project = r.project AND m.session = :session AND m.name IN (r.source, r.target)))
ORDER BY r.id;

-- name: has_uid
SELECT 1 FROM memory WHERE project = ? AND uid = ?;

-- name: deleted_states
SELECT CAST(i.before AS BLOB) FROM change c JOIN change_item i ON i.change = c.id
WHERE c.project = ? AND i.op = 'd' AND i.kind = 'm';

-- name: observation_orphan
SELECT o.id, o.id - :base, o.memory FROM observation o
WHERE o.id > :low AND o.id <= :top AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.id = o.memory) ORDER BY o.id;

-- name: change_ranges
SELECT id, first, last FROM change WHERE project = ? AND last > first ORDER BY first, id;

-- name: rows_between
SELECT id FROM memory WHERE id > ?1 AND id <= ?2 UNION ALL SELECT id FROM observation WHERE id > ?1 AND id <= ?2
UNION ALL SELECT id FROM relation WHERE id > ?1 AND id <= ?2 UNION ALL SELECT id FROM session WHERE id > ?1 AND id <= ?2;

-- name: journal_items
SELECT i.change, i.n, i.op, i.kind, i.ref, CAST(i.before AS BLOB) FROM change c JOIN change_item i ON i.change = c.id
WHERE c.project = ? ORDER BY i.change, i.n;

-- name: journal_gone
SELECT DISTINCT i.kind, i.ref FROM change c JOIN change_item i ON i.change = c.id
WHERE c.project = ? AND i.op IN ('d', 'p');

-- name: undoes_nothing
SELECT c.id, c.undoes FROM change c WHERE c.project = ?1 AND c.undoes IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM change o WHERE o.id = c.undoes AND o.project = ?1);

-- name: indexed_characters
SELECT id FROM gram_docsize WHERE id > ? AND id <= ?;

-- name: text_of
SELECT name FROM memory WHERE id = ?1 UNION ALL SELECT text FROM observation WHERE id = ?1;

-- name: owner
SELECT uid, session FROM memory WHERE id = ?1
UNION ALL SELECT m.uid, m.session FROM observation o JOIN memory m ON m.id = o.memory WHERE o.id = ?1;

-- name: postings
SELECT term, first, data FROM posting WHERE project = ?;

-- name: vectors_of_model
SELECT b.text, b.part, length(b.bits) FROM vector_bits b
JOIN model m ON m.id = b.model WHERE b.project = ? AND m.name = ?;

-- name: text_very_long
SELECT o.id, m.uid, length(o.text) FROM observation o JOIN memory m ON m.id = o.memory
WHERE o.id > :low AND o.id <= :top AND octet_length(o.text) > :long AND length(o.text) > :long
  AND (:session IS NULL OR m.session = :session) ORDER BY 3 DESC;

-- name: hubs
SELECT name, sum(links) FROM (
  SELECT source AS name, count(*) AS links FROM relation WHERE project = :project GROUP BY source
  UNION ALL
  SELECT target, count(*) FROM relation WHERE project = :project GROUP BY target
) GROUP BY name HAVING sum(links) > :hub ORDER BY 2 DESC;

-- name: memory_of_name
SELECT id, uid, session FROM memory WHERE project = ? AND name = ?;

-- name: json_of_memory
SELECT CAST(tags AS BLOB), CAST(metadata AS BLOB), CAST(extra AS BLOB) FROM memory WHERE id = ?;

-- name: json_of_relation
SELECT CAST(metadata AS BLOB), CAST(extra AS BLOB) FROM relation WHERE id = ?;

-- name: ids_memory
SELECT id FROM memory WHERE id > ? AND id <= ?;

-- name: ids_observation
SELECT id FROM observation WHERE id > ? AND id <= ?;

-- name: ids_relation
SELECT id FROM relation WHERE id > ? AND id <= ?;

-- name: ids_session
SELECT id FROM session WHERE id > ? AND id <= ?;

-- name: newest_memory
SELECT id FROM memory WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?;

-- name: count_memory
SELECT count(*) FROM memory WHERE id > ? AND id <= ?;

-- name: newest_observation
SELECT id FROM observation WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?;

-- name: count_observation
SELECT count(*) FROM observation WHERE id > ? AND id <= ?;

-- name: newest_relation
SELECT id FROM relation WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?;

-- name: count_relation
SELECT count(*) FROM relation WHERE id > ? AND id <= ?;

-- The statements of the repairs.

-- name: set_seq
UPDATE project SET seq = ? WHERE id = ?;

-- name: name_and_kind
SELECT name, kind FROM memory WHERE id = ?;

-- name: observation_text
SELECT text FROM observation WHERE id = ?;

-- name: set_head_folds
UPDATE memory SET name_fold = ?, kind_fold = ?, look = ? WHERE id = ?;

-- name: set_text_fold
UPDATE observation SET fold = ?, digest = ? WHERE id = ?;

-- name: drop_bits_of_text
DELETE FROM vector_bits WHERE project = ? AND text = ?;

-- name: drop_vectors_of_text
DELETE FROM vector WHERE text = ?;

-- name: clear_tags
UPDATE memory SET tags = NULL WHERE id = ?;

-- name: clear_metadata
UPDATE memory SET metadata = NULL WHERE id = ?;

-- name: clear_extra
UPDATE memory SET extra = NULL WHERE id = ?;

-- name: clear_relation_metadata
UPDATE relation SET metadata = NULL WHERE id = ?;

-- name: clear_relation_extra
UPDATE relation SET extra = NULL WHERE id = ?;

-- name: set_tags
UPDATE memory SET tags = ? WHERE id = ?;

-- name: set_owner
UPDATE observation SET memory = ? WHERE id = ?;
