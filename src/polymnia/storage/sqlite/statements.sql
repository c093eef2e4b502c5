-- name: project
SELECT id, seq, indexed, texts, touched, listed, passages, edition FROM project WHERE name = ?;

-- name: add_project
INSERT INTO project (name) VALUES (?) RETURNING id, seq, indexed, texts, touched, listed, passages, edition;

-- name: touch_project
UPDATE project SET seq = ?, indexed = ?, texts = ?, touched = ?, listed = ?, passages = ? WHERE id = ?;

-- name: begin_edition
UPDATE project SET listed = 0, passages = 0, edition = ? WHERE id = ?;

-- name: set_listed
UPDATE project SET listed = ?, passages = ? WHERE id = ?;

-- name: set_indexed
UPDATE project SET indexed = ? WHERE id = ?;

-- name: id_of
SELECT id FROM memory WHERE project = ? AND name = ?;

-- name: id_and_version_of
SELECT id, version, updated FROM memory WHERE project = ? AND name = ?;

-- name: ids_of
SELECT m.name, m.id FROM json_each(?2) j CROSS JOIN memory m ON m.project = ?1 AND m.name = j.value;

-- name: few_memories
SELECT id, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra, created, updated, version
FROM memory WHERE +project = ? AND id IN (?);

-- name: memories
SELECT m.id, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra, created, updated, version
FROM json_each(?2) j CROSS JOIN memory m ON m.id = j.value ORDER BY m.id;

-- name: memories_after
SELECT id, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra, created, updated, version
FROM memory WHERE id > ? AND id <= ? ORDER BY id LIMIT ?;

-- name: texts
SELECT id, text FROM observation WHERE memory = ?;

-- name: texts_of_few
SELECT id, memory, text FROM observation WHERE +? AND memory IN (?);

-- name: texts_of_many
SELECT o.id, o.memory, o.text FROM json_each(?2) j CROSS JOIN observation o ON o.memory = j.value;

-- name: relations
SELECT id, source, target, type, strength, context, metadata, extra, origin, created
FROM relation WHERE id > ? AND id <= ? ORDER BY id LIMIT ?;

-- name: relations_of
SELECT id, source, target, type, strength, context, metadata, extra, origin, created
FROM relation WHERE project = ? AND source IN (?)
UNION ALL
SELECT id, source, target, type, strength, context, metadata, extra, origin, created
FROM relation WHERE project = ? AND target IN (?);

-- name: relations_of_many
SELECT r.id, source, target, r.type, strength, context, metadata, extra, origin, created
FROM json_each(?2) j CROSS JOIN relation r ON r.project = ?1 AND r.source = j.value
UNION ALL
SELECT r.id, source, target, r.type, strength, context, metadata, extra, origin, created
FROM json_each(?2) j CROSS JOIN relation r ON r.project = ?1 AND r.target = j.value;

-- name: relations_from
SELECT r.id, source, target, r.type, strength, context, metadata, extra, origin, created
FROM json_each(?2) j CROSS JOIN relation r ON r.project = ?1 AND r.source = j.value ORDER BY 1;

-- name: loose_relations
SELECT id, source, target, type, strength, context, metadata, extra, origin, created FROM relation r
WHERE id > ?2 AND id <= ?3
  AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.project = ?1 AND m.name = r.source) ORDER BY id;

-- name: same_relation
SELECT id, source, target, type, strength, context, metadata, extra, origin, created
FROM relation WHERE project = ? AND source = ? AND target = ? AND type = ? ORDER BY id;

-- name: strongest
SELECT j.value, r.id, r.source, r.target, r.type, r.strength, r.context, r.metadata, r.extra, r.origin, r.created
FROM json_each(?2) j CROSS JOIN relation r ON r.id IN (
  SELECT id FROM (SELECT id FROM relation WHERE project = ?1 AND source = j.value AND strength IS NOT NULL
                  ORDER BY strength DESC LIMIT ?3)
  UNION ALL
  SELECT id FROM (SELECT id FROM relation WHERE project = ?1 AND target = j.value AND strength IS NOT NULL
                  ORDER BY strength DESC LIMIT ?3)
  UNION ALL
  SELECT id FROM (SELECT id FROM relation WHERE project = ?1 AND source = j.value AND strength IS NULL LIMIT ?3)
  UNION ALL
  SELECT id FROM (SELECT id FROM relation WHERE project = ?1 AND target = j.value AND strength IS NULL LIMIT ?3)
);

-- name: ids_of_uids
SELECT m.uid, m.id FROM json_each(?2) j CROSS JOIN memory m ON m.project = ?1 AND m.uid = j.value;

-- name: ids_before
SELECT id FROM memory WHERE id > ? AND id < ? ORDER BY id DESC LIMIT ?;

-- name: ids_after
SELECT id FROM memory WHERE id > ? AND id <= ? ORDER BY id LIMIT ?;

-- name: page
SELECT id FROM memory WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT ? OFFSET ?;

-- name: scopes
SELECT path, memories FROM scope WHERE project = ? ORDER BY path;

-- name: counted_scopes
SELECT coalesce(scope, ''), count(*) FROM memory WHERE project = ? GROUP BY 1 ORDER BY 1;

-- name: session
SELECT id, project, name, created FROM session WHERE project = ? AND name = ?;

-- name: session_rows_between
SELECT id, project, name, created FROM session WHERE id > ? AND id <= ? ORDER BY id;

-- name: sessions
SELECT s.name, s.created, count(m.id), min(m.created), max(m.updated)
FROM session s LEFT JOIN memory m ON m.project = s.project AND m.session = s.name
WHERE s.project = ? GROUP BY s.id ORDER BY s.id;

-- name: add_session
INSERT INTO session (id, project, name, created) VALUES (?, ?, ?, ?);

-- name: delete_session
DELETE FROM session WHERE id = ?;

-- name: names_starting
SELECT name FROM memory WHERE project = ?1 AND name >= ?2 AND name < ?3 ORDER BY name LIMIT ?4;

-- name: uids_starting
SELECT uid FROM memory WHERE project = ?1 AND uid >= ?2 AND uid < ?3 ORDER BY uid LIMIT ?4;

-- name: same_look
SELECT name FROM memory WHERE project = ? AND look = ? AND name <> ? LIMIT 20;

-- name: count
SELECT (SELECT count(*) FROM memory WHERE id > ?1 AND id <= ?2),
       (SELECT count(*) FROM relation WHERE id > ?1 AND id <= ?2);

-- name: newest_of_kind
SELECT id FROM memory WHERE project = ? AND kind = ? ORDER BY id DESC LIMIT ?;

-- name: kinds
SELECT kind, count(*) FROM memory WHERE project = ? GROUP BY kind ORDER BY count(*) DESC, kind;

-- name: add_memory
INSERT INTO memory (id, project, uid, name, kind, name_fold, kind_fold, look, extra, created, updated, version)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_whole_memory
INSERT INTO memory (id, project, uid, name, kind, name_fold, kind_fold, look, extra, created, updated, version,
                    scope, session, category, content_type, summary, tags, metadata)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_observation
INSERT INTO observation (id, memory, digest, text, fold) VALUES (?, ?, ?, ?, ?);

-- name: add_tag
INSERT OR IGNORE INTO tag (project, tag, memory) VALUES (?, ?, ?);

-- name: drop_tag
DELETE FROM tag WHERE project = ? AND tag = ? AND memory = ?;

-- name: tags_of
SELECT tags FROM memory WHERE id = ?;

-- name: bookkeeping
SELECT version, updated FROM memory WHERE id = ?;

-- name: touch
UPDATE memory SET version = ?, updated = ? WHERE id = ?;

-- name: date
UPDATE memory SET version = ?, updated = ?, created = ? WHERE id = ?;

-- name: set_created
UPDATE memory SET created = ? WHERE id = ?;

-- name: set_head
UPDATE memory SET kind = ?, kind_fold = ?, extra = ?, scope = ?, session = ?, category = ?, content_type = ?, summary = ?,
                  tags = ?, metadata = ?
WHERE id = ?;

-- name: equal_texts
SELECT id, text FROM observation WHERE memory = ? AND digest = ?;

-- name: with_digests
SELECT memory, text FROM observation WHERE id > ? AND id <= ? AND digest IN (SELECT value FROM json_each(?));

-- name: same_text
SELECT o.memory, o.text FROM observation o JOIN memory m ON m.id = o.memory
WHERE o.digest = ? AND +o.id > ? AND +o.id <= ? AND m.scope IS ?
  AND NOT EXISTS (SELECT 1 FROM observation other WHERE other.memory = o.memory AND other.id <> o.id)
ORDER BY o.memory;

-- name: has_observation
SELECT 1 FROM observation WHERE memory = ? LIMIT 1;

-- name: delete_observation
DELETE FROM observation WHERE id = ?;

-- name: delete_memory
DELETE FROM memory WHERE id = ?;

-- name: delete_relation
DELETE FROM relation WHERE id = ?;

-- name: unindex
DELETE FROM gram WHERE rowid = ?;

-- name: index
INSERT INTO gram (rowid, text) VALUES (?, ?);

-- name: flush_index
INSERT INTO gram (gram) VALUES ('flush');

-- name: merge_index
INSERT INTO gram (gram) VALUES ('optimize');

-- name: unindexed
SELECT id, coalesce(name_fold, name) || char(1) || coalesce(kind_fold, kind) FROM memory WHERE id > ?1 AND id <= ?2
UNION ALL
SELECT id, coalesce(fold, text) FROM observation WHERE id > ?1 AND id <= ?2 ORDER BY 1;

-- name: containing
-- A memory without a name has its id as one, of which eight characters or more are searched for.
SELECT coalesce(o.memory, m.id)
FROM gram g
LEFT JOIN observation o ON o.id = g.rowid
LEFT JOIN memory m ON o.id IS NULL AND m.id = g.rowid
WHERE g.gram MATCH ?5 AND g.rowid > ?1 AND g.rowid <= ?2
  AND (instr(coalesce(o.fold, o.text), ?4) OR instr(coalesce(m.name_fold, m.name), ?4) AND (m.name <> m.uid OR length(?4) >= 8)
       OR instr(coalesce(m.kind_fold, m.kind), ?4))
UNION ALL
SELECT memory FROM observation WHERE id > ?2 AND id <= ?3 AND instr(coalesce(fold, text), ?4)
UNION ALL
SELECT id FROM memory WHERE id > ?2 AND id <= ?3
  AND (instr(coalesce(name_fold, name), ?4) AND (name <> uid OR length(?4) >= 8) OR instr(coalesce(kind_fold, kind), ?4));

-- name: containing_by_scan
SELECT memory FROM observation WHERE id > ?1 AND id <= ?2 AND instr(coalesce(fold, text), ?3)
UNION ALL
SELECT id FROM memory WHERE id > ?1 AND id <= ?2
  AND (instr(coalesce(name_fold, name), ?3) AND (name <> uid OR length(?3) >= 8) OR instr(coalesce(kind_fold, kind), ?3));

-- name: newest_indexed
SELECT id, coalesce(name_fold, name) || char(1) || coalesce(kind_fold, kind) FROM memory
WHERE id = (SELECT max(id) FROM memory WHERE id > ?1 AND id <= ?2)
UNION ALL
SELECT id, coalesce(fold, text) FROM observation WHERE id = (SELECT max(id) FROM observation WHERE id > ?1 AND id <= ?2);

-- name: is_indexed
SELECT 1 FROM gram WHERE gram MATCH ? AND rowid = ?;

-- name: candidates
SELECT count(*) FROM (SELECT 1 FROM gram WHERE gram MATCH ?3 AND rowid > ?1 AND rowid <= ?2 LIMIT ?4);

-- name: terms_starting
SELECT term FROM gram_term WHERE term >= ? AND term < ? LIMIT ?;

-- name: fact
SELECT value FROM fact WHERE project = ? AND key = ?;

-- name: facts
SELECT key FROM fact WHERE project = ? AND key >= ? AND key < ? ORDER BY key LIMIT ?;

-- name: set_fact
INSERT INTO fact (project, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value;

-- name: forget_fact
DELETE FROM fact WHERE project = ? AND key = ?;

-- name: forget_facts
DELETE FROM fact WHERE project = ? AND key >= ? AND key < ?;

-- name: forget_facts_naming
DELETE FROM fact WHERE project = ? AND instr(key, ?) > 0;

-- name: add_change
INSERT INTO change (id, project, at, who, action, first, last, undoes, account, client, dialect, tool)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id;

-- name: add_item
INSERT INTO change_item (change, n, op, kind, ref, owner, before, name, other) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: changes
SELECT id, at, who, action, first, last, undoes, account, client, dialect, tool
FROM change WHERE project = ? ORDER BY first DESC, id DESC LIMIT ?;

-- name: changes_before
SELECT id, at, who, action, first, last, undoes, account, client, dialect, tool
FROM change WHERE project = ?1 AND first <= (SELECT first FROM change WHERE id = ?2) AND id < ?2
ORDER BY first DESC, id DESC LIMIT ?3;

-- name: change
SELECT id, at, who, action, first, last, undoes, account, client, dialect, tool
FROM change WHERE project = ? AND id = ?;

-- name: change_that_made
SELECT id, at, who, action, first, last, undoes, account, client, dialect, tool
FROM change WHERE project = ?1 AND first < ?2 AND last >= ?2 ORDER BY first DESC LIMIT 1;

-- name: next_change
SELECT coalesce(max(id), 0) + 1 FROM change;

-- name: undone_by
SELECT id FROM change WHERE undoes = ?2 ORDER BY id DESC;

-- name: change_at
SELECT id, last FROM change WHERE project = ? AND at <= ? ORDER BY first DESC, id DESC LIMIT 1;

-- name: items
SELECT change, op, kind, ref, owner, before FROM change_item WHERE change = ?2 ORDER BY n;

-- name: items_after
SELECT i.change, i.op, i.kind, i.ref, i.owner, i.before FROM change c JOIN change_item i ON i.change = c.id
WHERE c.project = ? AND c.id > ? ORDER BY c.id DESC, i.n DESC;

-- name: items_of_owner
SELECT change, op, kind, ref, owner, before FROM change_item WHERE owner = ? ORDER BY change, n;

-- name: items_of_owner_after
SELECT change, op, kind, ref, owner, before FROM change_item WHERE owner = ? AND change > ? ORDER BY change, n;

-- name: deleted_named
SELECT DISTINCT owner FROM change_item WHERE kind = 'm' AND name = ?3 AND owner > ?1 AND owner <= ?2;

-- name: deleted_names_starting
SELECT DISTINCT name FROM change_item
WHERE name >= ?3 AND name < ?4 AND owner > ?1 AND owner <= ?2 AND op = 'd' AND kind = 'm' LIMIT ?5;

-- name: deleted_with_uid
SELECT DISTINCT owner FROM change_item
WHERE owner > ? AND owner <= ? AND op = 'd' AND kind = 'm' AND before ->> 'uid' = ?;

-- name: deleted_between
SELECT DISTINCT owner FROM change_item WHERE owner > ? AND owner <= ? AND op = 'd' AND kind = 'm';

-- name: deleted_relations_between
SELECT ref, before FROM change_item WHERE owner > ? AND owner <= ? AND op = 'd' AND kind = 'r';

-- name: deleted_relations_named
SELECT DISTINCT ref, before FROM change_item WHERE kind = 'r' AND name = ?3 AND ref > ?1 AND ref <= ?2
UNION
SELECT DISTINCT ref, before FROM change_item WHERE kind = 'r' AND other = ?3 AND ref > ?1 AND ref <= ?2;

-- name: memory_row
SELECT id, project, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra, created, updated, version
FROM memory WHERE id = ?;

-- name: memory_rows_between
SELECT id, project, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra, created, updated, version
FROM memory WHERE id > ? AND id <= ? ORDER BY id;

-- name: observation_rows_between
SELECT id, memory, text FROM observation WHERE id > ? AND id <= ? ORDER BY id;

-- name: relation_row
SELECT id, project, source, target, type, strength, context, metadata, extra, origin, created
FROM relation WHERE id = ?;

-- name: relation_ends_between
SELECT id, source, target, type, origin FROM relation WHERE id > ? AND id <= ? ORDER BY id;

-- name: relation_rows_between
SELECT id, project, source, target, type, strength, context, metadata, extra, origin, created
FROM relation WHERE id > ? AND id <= ? ORDER BY id;

-- name: restore_memory
INSERT INTO memory (id, project, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra,
                    created, updated, version, name_fold, kind_fold, look)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: restore_relation
INSERT INTO relation (id, project, source, target, type, strength, context, metadata, extra, origin, created)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: names_of
SELECT name FROM memory WHERE id = ?1
UNION
SELECT name FROM change_item WHERE owner = ?1 AND kind = 'm';

-- name: purge_items
UPDATE change_item SET op = 'p', before = NULL, name = NULL, other = NULL WHERE owner = ?;

-- name: purge_named_items
UPDATE change_item SET op = 'p', before = NULL, name = NULL, other = NULL WHERE (name = ?3 AND ref > ?1 AND ref <= ?2) OR (other = ?3 AND ref > ?1 AND ref <= ?2);

-- name: last_change
SELECT coalesce(max(id), 0) FROM change WHERE ?1;  -- of all projects: it costs nothing

-- name: texts_between
SELECT id, id AS memory, name, kind, NULL, session, created, tags, category, summary, uid,
       NOT EXISTS (SELECT 1 FROM observation o WHERE o.memory = memory.id), scope
FROM memory WHERE id > ?1 AND id <= ?2
UNION ALL
SELECT o.id, o.memory, m.name, m.kind, o.text, m.session, m.created, NULL, NULL, NULL, m.uid, 0, m.scope
FROM observation o JOIN memory m ON m.id = o.memory WHERE o.id > ?1 AND o.id <= ?2
ORDER BY 1;

-- name: texts_among
SELECT m.id, m.id, name, kind, NULL, session, created, tags, category, summary, uid,
       NOT EXISTS (SELECT 1 FROM observation o WHERE o.memory = m.id), scope
FROM json_each(?2) j CROSS JOIN memory m ON m.id = ?1 + j.value
UNION ALL
SELECT o.id, o.memory, m.name, m.kind, o.text, m.session, m.created, NULL, NULL, NULL, m.uid, 0, m.scope
FROM json_each(?2) j CROSS JOIN observation o ON o.id = ?1 + j.value CROSS JOIN memory m ON m.id = o.memory
ORDER BY 1;

-- name: blocks
SELECT first, count, data FROM passage_block WHERE project = ? AND first > ? ORDER BY first;

-- name: add_block
INSERT INTO passage_block (project, first, count, low, high, data) VALUES (?, ?, ?, ?, ?, ?);

-- name: set_block
UPDATE passage_block SET data = ? WHERE project = ? AND first = ?;

-- name: postings
SELECT data FROM posting WHERE project = ? AND term = ? ORDER BY first;

-- name: add_posting
INSERT INTO posting (project, term, first, data) VALUES (?, ?, ?, ?);

-- name: posting
SELECT data FROM posting WHERE project = ? AND term = ? AND first = ?;

-- name: terms_of_block
SELECT term FROM posting WHERE project = ? AND first = ?;

-- name: set_posting
UPDATE posting SET data = ? WHERE project = ? AND term = ? AND first = ?;

-- name: drop_posting
DELETE FROM posting WHERE project = ? AND term = ? AND first = ?;

-- name: words_starting
SELECT DISTINCT term FROM posting WHERE project = ? AND term >= ? AND term < ? LIMIT ?;

-- name: gone
SELECT id FROM gone WHERE id > ? AND id <= ?;

-- name: add_gone
INSERT OR IGNORE INTO gone (id) VALUES (?);

-- name: drop_gone
DELETE FROM gone WHERE id > ? AND id <= ? RETURNING id;

-- name: stale
SELECT id FROM stale WHERE id > ? AND id <= ?;

-- name: add_stale
INSERT OR IGNORE INTO stale (id) VALUES (?);

-- name: drop_stale
DELETE FROM stale WHERE id > ? AND id <= ?;

-- name: changed_texts
SELECT DISTINCT i.ref FROM change c JOIN change_item i ON i.change = c.id
WHERE c.id > ?1 AND +c.project = ?2 AND i.kind <> 'r';  -- by the number: the last few changes, not all of the project's

-- name: drop_blocks
DELETE FROM passage_block WHERE project = ?;

-- name: drop_postings
DELETE FROM posting WHERE project = ?;

-- name: blocks_with
SELECT first, count, data FROM passage_block WHERE project = ?1 AND low <= ?2 AND high >= ?2;

-- name: model
SELECT id, dimensions FROM model WHERE name = ?;

-- name: model_in_use
SELECT 1 FROM project p WHERE EXISTS (SELECT 1 FROM vector_bits b WHERE b.project = p.id AND b.model = ?) LIMIT 1;

-- name: set_dimensions
UPDATE model SET dimensions = ? WHERE id = ?;

-- name: add_model
INSERT INTO model (name, dimensions) VALUES (?, ?);

-- name: has_text
SELECT 1 FROM observation WHERE id = ?1 UNION ALL SELECT 1 FROM memory WHERE id = ?1;

-- name: add_vector
INSERT OR IGNORE INTO vector (model, text, part, half) VALUES (?, ?, ?, ?) RETURNING id;

-- name: add_bits
INSERT INTO vector_bits (project, model, id, text, part, bits) VALUES (?, ?, ?, ?, ?, ?);

-- name: vectors
SELECT id, text, part, bits FROM vector_bits WHERE project = ? AND model = ? AND id > ? ORDER BY id LIMIT ?;

-- name: halves
SELECT v.id, v.half FROM json_each(?2) j CROSS JOIN vector v ON v.id = j.value;

-- name: vectors_of_text
SELECT id, model FROM vector WHERE text = ?;

-- name: halves_of_text
SELECT m.name, v.half FROM vector v JOIN model m ON m.id = v.model WHERE v.text = ? ORDER BY v.part;

-- name: halves_of_observations
SELECT o.memory, o.id, m.name, v.half FROM json_each(?2) j CROSS JOIN observation o ON o.memory = j.value
LEFT JOIN vector v ON v.text = o.id LEFT JOIN model m ON m.id = v.model ORDER BY o.memory, o.id, v.part;

-- name: drop_vector
DELETE FROM vector WHERE id = ?2;

-- name: drop_bits
DELETE FROM vector_bits WHERE project = ? AND model = ? AND id = ?;

-- name: drop_vectors_of_model
DELETE FROM vector WHERE model = ?3 AND text > ?1 AND text <= ?2;

-- name: drop_bits_of_model
DELETE FROM vector_bits WHERE project = ? AND model = ?;

-- name: drop_vectors
DELETE FROM vector WHERE text > ?1 AND text <= ?2;

-- name: count_bits
SELECT count(*) FROM vector_bits WHERE project = ?;

-- name: drop_bits_of_project
DELETE FROM vector_bits WHERE project = ?;

-- name: models
SELECT m.id, m.name, m.dimensions, count(*) FROM vector_bits b JOIN model m ON m.id = b.model
WHERE b.project = ? GROUP BY m.id;

-- name: projects
SELECT name FROM project ORDER BY id;

-- name: unlisted_tags
SELECT 1 FROM memory m, json_each(m.tags) j
WHERE m.id = (SELECT id FROM (SELECT id, tags FROM memory WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1000)
              WHERE tags IS NOT NULL AND json_valid(tags) LIMIT 1) AND NOT EXISTS (SELECT 1 FROM tag t WHERE t.project = m.project AND t.tag = j.value AND t.memory = m.id) LIMIT 1;

-- name: drop_scopes
DELETE FROM scope WHERE project = ?;

-- name: count_scopes
INSERT INTO scope SELECT project, coalesce(scope, ''), count(*) FROM memory WHERE project = ? GROUP BY 1, 2;

-- name: drop_tags
DELETE FROM tag WHERE project = ?;

-- name: list_tags
INSERT OR IGNORE INTO tag SELECT m.project, t.value, m.id FROM memory m, json_each(m.tags) t
WHERE m.project = ? AND json_valid(m.tags) AND t.type = 'text';

-- name: count_texts
SELECT (SELECT count(*) FROM memory WHERE id > ?1 AND id <= ?2)
  + (SELECT count(*) FROM observation WHERE id > ?1 AND id <= ?2);

-- name: set_texts
UPDATE project SET texts = ? WHERE id = ?;

-- name: facet_kinds
SELECT m.kind, count(*) FROM json_each(?2) j CROSS JOIN memory m ON m.id = ?1 + j.value
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?3;

-- name: facet_content_types
SELECT m.content_type, count(*) FROM json_each(?2) j CROSS JOIN memory m ON m.id = ?1 + j.value
WHERE m.content_type IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?3;

-- name: facet_scopes
SELECT m.scope, count(*) FROM json_each(?2) j CROSS JOIN memory m ON m.id = ?1 + j.value
WHERE m.scope IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?3;

-- name: facet_tags
SELECT t.value, count(*) FROM json_each(?2) j CROSS JOIN memory m ON m.id = ?1 + j.value
CROSS JOIN json_each(m.tags) t GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?3;

-- name: facet_months
SELECT strftime('%Y-%m', m.created / 1000000, 'unixepoch'), count(*)
FROM json_each(?2) j CROSS JOIN memory m ON m.id = ?1 + j.value GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?3;

-- name: changes_in_order
SELECT id, at, who, action, first, last FROM change WHERE project = ? ORDER BY id;

-- name: memory_ids
SELECT id, session FROM memory WHERE id > ? AND id <= ? ORDER BY id;

-- name: items_of_project
SELECT i.change, i.op, i.kind, i.ref, i.owner, CASE WHEN i.op = 'd' AND i.kind = 'm' THEN i.before END FROM change c JOIN change_item i ON i.change = c.id
WHERE c.project = ? ORDER BY c.id, i.n;

-- name: observation_owners
SELECT id, memory FROM observation WHERE id > ? AND id <= ? ORDER BY id;

-- name: seen
SELECT memory, hour, who, opened, found FROM seen
WHERE memory > ? AND memory <= ? AND hour >= ? AND hour < ? ORDER BY hour, memory, who;

-- name: count_seen
-- Not of a memory that was deleted for good since it was read.
INSERT INTO seen (memory, hour, who, opened, found) SELECT ?1, ?2, ?3, ?4, ?5
WHERE EXISTS (SELECT 1 FROM memory WHERE id = ?1)
   OR EXISTS (SELECT 1 FROM change_item WHERE owner = ?1 AND ref = ?1 AND op <> 'p')
ON CONFLICT DO UPDATE SET opened = opened + excluded.opened, found = found + excluded.found;

-- name: forget_seen
DELETE FROM seen WHERE memory = ?;

-- name: uids_of_ids
SELECT m.id, m.uid FROM json_each(?2) j JOIN memory m ON m.id = j.value;
