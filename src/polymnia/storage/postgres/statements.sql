-- A plus before a column keeps the planner from using its index: another condition is far more selective.
-- LATERAL (… OFFSET 0) looks rows up one by one, by their key, whatever the planner believes of the size of the tables.

-- name: project
SELECT id, seq, indexed, texts, touched, listed, passages, edition FROM project WHERE name = $1;

-- name: partition_of
SELECT n FROM store CROSS JOIN generate_series(0, partitions::integer - 1) AS n
WHERE satisfies_hash_partition('memory'::regclass, partitions::integer, n, $1::bigint);

-- name: lock_known_project
SELECT id, seq, indexed, texts, touched, listed, passages, edition, pg_current_xact_id()::text
FROM project WHERE name = $1 FOR UPDATE;

-- name: lock_project
INSERT INTO project (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name
RETURNING id, seq, indexed, texts, touched, listed, passages, edition, pg_current_xact_id()::text;

-- name: add_project
INSERT INTO project (name) VALUES ($1) RETURNING id, seq, indexed, texts, touched, listed, passages, edition;

-- name: touch_project
UPDATE project SET seq = $1, indexed = $2, texts = $3, touched = $4, listed = $5, passages = $6 WHERE id = $7;

-- name: begin_edition
UPDATE project SET listed = 0, passages = 0, edition = $1 WHERE id = $2;

-- name: set_listed
UPDATE project SET listed = $1, passages = $2 WHERE id = $3;

-- name: set_indexed
UPDATE project SET indexed = $1 WHERE id = $2;

-- name: id_of
SELECT id FROM memory WHERE project = $1 AND left(name, 200) = left($2::text, 200) AND name = $2;

-- name: id_and_version_of
SELECT id, version, updated FROM memory WHERE project = $1 AND left(name, 200) = left($2::text, 200) AND name = $2;

-- name: ids_of
SELECT m.* FROM unnest($2::text[]) AS j (value) CROSS JOIN LATERAL (
  SELECT name, id FROM memory WHERE project = $1 AND left(name, 200) = left(j.value, 200) AND name = j.value OFFSET 0) m;

-- name: few_memories
SELECT id, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra, created, updated, version,
  ARRAY(SELECT o.text FROM observation o WHERE o.project = $1 AND o.memory = m.id ORDER BY o.id)
FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT * FROM memory WHERE project = $1 AND id = j.value OFFSET 0) m;

-- name: few_memories_named
SELECT id, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra, created, updated, version,
  ARRAY(SELECT o.text FROM observation o WHERE o.project = $1 AND o.memory = m.id ORDER BY o.id)
FROM unnest($2::text[]) AS j (value) CROSS JOIN LATERAL (
  SELECT * FROM memory WHERE project = $1 AND left(name, 200) = left(j.value, 200) AND name = j.value OFFSET 0) m;

-- name: memories
SELECT m.* FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT id, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra, created, updated, version
  FROM memory WHERE project = $1 AND id = j.value OFFSET 0) m ORDER BY 1;

-- name: memories_after
SELECT id, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra, created, updated, version
FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id LIMIT nullif($3::bigint, -1);

-- name: texts
SELECT id, text FROM observation WHERE project = $1::bigint >> 32 AND memory = $1;

-- name: texts_of_many
SELECT o.* FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT id, memory, text FROM observation WHERE project = $1 AND memory = j.value OFFSET 0) o;

-- name: relations
SELECT id, source, target, type, strength, context, metadata, extra, origin, created
FROM relation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id LIMIT nullif($3::bigint, -1);

-- name: relations_of
SELECT r.* FROM unnest($2::text[]) AS j (value) CROSS JOIN LATERAL (
  SELECT id, source, target, type, strength, context, metadata, extra, origin, created FROM relation
  WHERE project = $1 AND left(source, 200) = left(j.value, 200) AND source = j.value OFFSET 0) r
UNION ALL
SELECT r.* FROM unnest($2::text[]) AS j (value) CROSS JOIN LATERAL (
  SELECT id, source, target, type, strength, context, metadata, extra, origin, created FROM relation
  WHERE project = $1 AND left(target, 200) = left(j.value, 200) AND target = j.value OFFSET 0) r;

-- name: relations_of_many
SELECT r.* FROM unnest($2::text[]) AS j (value) CROSS JOIN LATERAL (
  SELECT id, source, target, type, strength, context, metadata, extra, origin, created FROM relation
  WHERE project = $1 AND left(source, 200) = left(j.value, 200) AND source = j.value OFFSET 0) r
UNION ALL
SELECT r.* FROM unnest($2::text[]) AS j (value) CROSS JOIN LATERAL (
  SELECT id, source, target, type, strength, context, metadata, extra, origin, created FROM relation
  WHERE project = $1 AND left(target, 200) = left(j.value, 200) AND target = j.value OFFSET 0) r;

-- name: relations_from
SELECT r.* FROM unnest($2::text[]) AS j (value) CROSS JOIN LATERAL (
  SELECT id, source, target, type, strength, context, metadata, extra, origin, created FROM relation
  WHERE project = $1 AND left(source, 200) = left(j.value, 200) AND source = j.value OFFSET 0) r ORDER BY 1;

-- name: loose_relations
SELECT id, source, target, type, strength, context, metadata, extra, origin, created FROM relation r
WHERE r.project = $1 AND id > $2 AND id <= $3 AND NOT EXISTS (
  SELECT 1 FROM memory m WHERE m.project = $1 AND left(m.name, 200) = left(r.source, 200) AND m.name = r.source)
ORDER BY id;

-- name: same_relation
SELECT id, source, target, type, strength, context, metadata, extra, origin, created FROM relation
WHERE project = $1 AND left(source, 200) = left($2::text, 200) AND left(target, 200) = left($3::text, 200)
  AND left(type, 200) = left($4::text, 200) AND source = $2 AND target = $3 AND type = $4 ORDER BY id;

-- name: strongest
-- Each of the four in the order of an index. A relation may come more than once.
SELECT j.value, r.id, r.source, r.target, r.type, r.strength, r.context, r.metadata, r.extra, r.origin, r.created
FROM unnest($2::text[]) AS j (value) CROSS JOIN LATERAL (
  (SELECT * FROM relation WHERE project = $1 AND left(source, 200) = left(j.value, 200) AND source = j.value
     AND strength IS NOT NULL ORDER BY strength DESC LIMIT nullif($3::bigint, -1))
  UNION ALL
  (SELECT * FROM relation WHERE project = $1 AND left(target, 200) = left(j.value, 200) AND target = j.value
     AND strength IS NOT NULL ORDER BY strength DESC LIMIT nullif($3::bigint, -1))
  UNION ALL
  (SELECT * FROM relation WHERE project = $1 AND left(source, 200) = left(j.value, 200) AND source = j.value
     AND strength IS NULL ORDER BY left(target, 200), left(type, 200), id LIMIT nullif($3::bigint, -1))
  UNION ALL
  (SELECT * FROM relation WHERE project = $1 AND left(target, 200) = left(j.value, 200) AND target = j.value
     AND strength IS NULL ORDER BY id LIMIT nullif($3::bigint, -1))
) r;

-- name: ids_of_uids
SELECT m.* FROM unnest($2::text[]) AS j (value) CROSS JOIN LATERAL (
  SELECT uid, id FROM memory WHERE project = $1 AND left(uid, 200) = left(j.value, 200) AND uid = j.value OFFSET 0) m;

-- name: ids_before
SELECT id FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id < $2
ORDER BY id DESC LIMIT nullif($3::bigint, -1);

-- name: ids_after
SELECT id FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
ORDER BY id LIMIT nullif($3::bigint, -1);

-- name: page
SELECT id FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
ORDER BY id DESC LIMIT nullif($3::bigint, -1) OFFSET $4;

-- name: scopes
SELECT path, sum(memories)::bigint FROM scope WHERE project = $1 GROUP BY path ORDER BY path;

-- name: counted_scopes
SELECT coalesce(scope, ''), count(*) FROM memory WHERE project = $1 GROUP BY 1 ORDER BY 1;

-- name: session
SELECT id, project, name, created FROM session WHERE project = $1 AND name = $2;

-- name: session_rows_between
SELECT id, project, name, created FROM session
WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id;

-- name: sessions
SELECT s.name, s.created, count(m.id), min(m.created), max(m.updated)
FROM session s LEFT JOIN memory m ON m.project = $1 AND m.session = s.name
WHERE s.project = $1 GROUP BY s.id, s.name, s.created ORDER BY s.id;

-- name: add_session
INSERT INTO session (id, project, name, created) VALUES ($1, $2, $3, $4);

-- name: delete_session
DELETE FROM session WHERE project = $1::bigint >> 32 AND id = $1;

-- name: names_starting
-- Without an upper bound if $3 is NULL.
SELECT name FROM memory WHERE project = $1 AND left(name, 200) >= left($2::text, 200)
  AND left(name, 200) <= coalesce(left($3::text, 200), repeat(chr(1114111), 200))
  AND name >= $2 AND ($3::text IS NULL OR name < $3)
ORDER BY left(name, 200), name LIMIT nullif($4::bigint, -1);

-- name: uids_starting
-- Without an upper bound if $3 is NULL.
SELECT uid FROM memory WHERE project = $1 AND left(uid, 200) >= left($2::text, 200)
  AND left(uid, 200) <= coalesce(left($3::text, 200), repeat(chr(1114111), 200))
  AND uid >= $2 AND ($3::text IS NULL OR uid < $3)
ORDER BY left(uid, 200), uid LIMIT nullif($4::bigint, -1);

-- name: same_look
SELECT name FROM memory WHERE project = $1 AND look = $2 AND name <> $3 ORDER BY id LIMIT 20;

-- name: count
SELECT (SELECT count(*) FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2),
       (SELECT count(*) FROM relation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2);

-- name: newest_of_kind
SELECT id FROM memory WHERE project = $1 AND left(kind, 200) = left($2::text, 200) AND kind = $2
ORDER BY id DESC LIMIT nullif($3::bigint, -1);

-- name: kinds
SELECT kind, count(*) FROM memory WHERE project = $1 GROUP BY kind ORDER BY count(*) DESC, kind;

-- name: add_memory
INSERT INTO memory (id, project, uid, name, kind, name_fold, kind_fold, look, extra, created, updated, version)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

-- name: add_whole_memory
INSERT INTO memory (id, project, uid, name, kind, name_fold, kind_fold, look, extra, created, updated, version,
                    scope, session, category, content_type, summary, tags, metadata)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19);

-- name: add_observation
INSERT INTO observation (project, id, memory, digest, text, fold) VALUES ($1::bigint >> 32, $1, $2, $3, $4, $5);

-- name: add_tag
INSERT INTO tag (project, tag, memory) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: drop_tag
DELETE FROM tag WHERE project = $1 AND left(tag, 200) = left($2::text, 200) AND tag = $2 AND memory = $3;

-- name: tags_of
SELECT tags FROM memory WHERE project = $1::bigint >> 32 AND id = $1;

-- name: bookkeeping
SELECT version, updated FROM memory WHERE project = $1::bigint >> 32 AND id = $1;

-- name: touch
UPDATE memory SET version = $1, updated = $2 WHERE project = $3::bigint >> 32 AND id = $3;

-- name: date
UPDATE memory SET version = $1, updated = $2, created = $3 WHERE project = $4::bigint >> 32 AND id = $4;

-- name: set_created
UPDATE memory SET created = $1 WHERE project = $2::bigint >> 32 AND id = $2;

-- name: set_head
UPDATE memory SET kind = $1, kind_fold = $2, extra = $3, scope = $4, session = $5, category = $6, content_type = $7,
                  summary = $8, tags = $9, metadata = $10
WHERE project = $11::bigint >> 32 AND id = $11;

-- name: equal_texts
SELECT id, text FROM observation WHERE project = $1::bigint >> 32 AND memory = $1 AND digest = $2;

-- name: with_digests
SELECT o.* FROM unnest($3::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT memory, text FROM observation
  WHERE project = $2::bigint >> 32 AND digest = j.value AND +id > $1 AND +id <= $2 OFFSET 0) o;

-- name: same_text
SELECT o.memory, o.text FROM (
  SELECT id, memory, text FROM observation
  WHERE project = $3::bigint >> 32 AND digest = $1 AND +id > $2 AND +id <= $3 OFFSET 0) o
CROSS JOIN LATERAL (SELECT scope FROM memory WHERE project = $3::bigint >> 32 AND id = o.memory OFFSET 0) m
WHERE m.scope IS NOT DISTINCT FROM $4
  AND NOT EXISTS (SELECT 1 FROM observation other
                  WHERE other.project = $3::bigint >> 32 AND other.memory = o.memory AND other.id <> o.id OFFSET 0)
ORDER BY o.memory;

-- name: has_observation
SELECT 1 FROM observation WHERE project = $1::bigint >> 32 AND memory = $1 LIMIT 1;

-- name: delete_observation
DELETE FROM observation WHERE project = $1::bigint >> 32 AND id = $1;

-- name: delete_memory
DELETE FROM memory WHERE project = $1::bigint >> 32 AND id = $1;

-- name: delete_relation
DELETE FROM relation WHERE project = $1::bigint >> 32 AND id = $1;

-- name: unindex
DELETE FROM gram WHERE project = $1::bigint >> 32 AND id = $1;

-- name: index
INSERT INTO gram (project, id, grams) VALUES ($1::bigint >> 32, $1, $2::integer[])
ON CONFLICT (id, project) DO UPDATE SET grams = excluded.grams;

-- name: empty_grams
DELETE FROM gram WHERE project = $1 AND id > $1::bigint << 32 AND id < ($1::bigint + 1) << 32;

-- name: unindexed
SELECT id, name, kind, NULL::text FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
UNION ALL
SELECT id, NULL, NULL, text FROM observation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY 1;

-- name: containing
-- A memory without a name has its id as one, of which eight characters or more are searched for.
WITH candidate AS MATERIALIZED (
  SELECT id FROM gram WHERE project = $3::bigint >> 32 AND grams @> $6::integer[] AND +id > $1 AND +id <= $2
)
SELECT o.memory FROM candidate c CROSS JOIN LATERAL (
  SELECT memory, text, fold FROM observation WHERE project = $3::bigint >> 32 AND id = c.id OFFSET 0) o
WHERE CASE WHEN o.fold IS NULL THEN position($4::text IN o.text) > 0 ELSE position($5::bytea IN o.fold) > 0 END
UNION ALL
SELECT m.id FROM candidate c CROSS JOIN LATERAL (
  SELECT id, uid, name, kind, name_fold, kind_fold FROM memory WHERE project = $3::bigint >> 32 AND id = c.id OFFSET 0) m
WHERE CASE WHEN name_fold IS NULL THEN position($4::text IN name) > 0 ELSE position($5::bytea IN name_fold) > 0 END AND (name <> uid OR length($4::text) >= 8)
   OR CASE WHEN kind_fold IS NULL THEN position($4::text IN kind) > 0 ELSE position($5::bytea IN kind_fold) > 0 END
UNION ALL
SELECT memory FROM observation WHERE project = $3::bigint >> 32 AND id > $2 AND id <= $3
  AND CASE WHEN fold IS NULL THEN position($4::text IN text) > 0 ELSE position($5::bytea IN fold) > 0 END
UNION ALL
SELECT id FROM memory WHERE project = $3::bigint >> 32 AND id > $2 AND id <= $3
  AND (CASE WHEN name_fold IS NULL THEN position($4::text IN name) > 0 ELSE position($5::bytea IN name_fold) > 0 END AND (name <> uid OR length($4::text) >= 8)
    OR CASE WHEN kind_fold IS NULL THEN position($4::text IN kind) > 0 ELSE position($5::bytea IN kind_fold) > 0 END);

-- name: containing_by_scan
SELECT memory FROM observation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
  AND CASE WHEN fold IS NULL THEN position($3::text IN text) > 0 ELSE position($4::bytea IN fold) > 0 END
UNION ALL
SELECT id FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
  AND (CASE WHEN name_fold IS NULL THEN position($3::text IN name) > 0 ELSE position($4::bytea IN name_fold) > 0 END AND (name <> uid OR length($3::text) >= 8)
    OR CASE WHEN kind_fold IS NULL THEN position($3::text IN kind) > 0 ELSE position($4::bytea IN kind_fold) > 0 END);

-- name: newest_indexed
(SELECT id, name, kind, NULL::text FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
 ORDER BY id DESC LIMIT 1)
UNION ALL
(SELECT id, NULL, NULL, text FROM observation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
 ORDER BY id DESC LIMIT 1);

-- name: is_indexed
SELECT 1 FROM gram WHERE project = $2::bigint >> 32 AND id = $2 AND grams @> $1::integer[];

-- name: candidates
SELECT count(*) FROM (
  SELECT 1 FROM gram WHERE project = $2::bigint >> 32 AND grams @> $3::integer[] AND +id > $1 AND +id <= $2
  LIMIT nullif($4::bigint, -1)
) AS found;

-- name: fact
SELECT value FROM fact WHERE project = $1 AND key = $2;

-- name: facts
SELECT key FROM fact WHERE project = $1 AND key >= $2 AND key < $3 ORDER BY key LIMIT nullif($4::bigint, -1);

-- name: set_fact
INSERT INTO fact (project, key, value) VALUES ($1, $2, $3)
ON CONFLICT (project, key) DO UPDATE SET value = excluded.value;

-- name: forget_fact
DELETE FROM fact WHERE project = $1 AND key = $2;

-- name: forget_facts
DELETE FROM fact WHERE project = $1 AND key >= $2 AND key < $3;

-- name: forget_facts_naming
DELETE FROM fact WHERE project = $1 AND strpos(key, $2) > 0;

-- name: next_change
SELECT nextval('change_id');

-- name: add_change
INSERT INTO change (id, project, at, who, action, first, last, undoes, account, client, dialect, tool)
VALUES (coalesce($1::bigint, nextval('change_id')), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING id;

-- name: add_item
INSERT INTO change_item (project, change, n, op, kind, ref, owner, before, name, other)
VALUES ($5::bigint >> 32, $1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: changes
SELECT id, at, who, action, first, last, undoes, account, client, dialect, tool
FROM change WHERE project = $1 ORDER BY first DESC, id DESC LIMIT nullif($2::bigint, -1);

-- name: changes_before
SELECT id, at, who, action, first, last, undoes, account, client, dialect, tool
FROM change WHERE project = $1 AND first <= (SELECT first FROM change WHERE project = $1 AND id = $2) AND id < $2
ORDER BY first DESC, id DESC LIMIT $3;

-- name: change
SELECT id, at, who, action, first, last, undoes, account, client, dialect, tool
FROM change WHERE project = $1 AND id = $2;

-- name: change_that_made
SELECT id, at, who, action, first, last, undoes, account, client, dialect, tool
FROM change WHERE project = $1 AND first < $2 AND last >= $2 ORDER BY first DESC LIMIT 1;

-- name: undone_by
SELECT id FROM change WHERE project = $1 AND undoes = $2 ORDER BY id DESC;

-- name: change_at
SELECT id, last FROM change WHERE project = $1 AND at <= $2 ORDER BY first DESC, id DESC LIMIT 1;

-- name: items
SELECT change, op, kind, ref, owner, before FROM change_item WHERE project = $1 AND change = $2 ORDER BY n;

-- name: items_after
SELECT change, op, kind, ref, owner, before FROM change_item
WHERE project = $1 AND change > $2 ORDER BY change DESC, n DESC;

-- name: items_of_owner
SELECT change, op, kind, ref, owner, before FROM change_item
WHERE project = $1::bigint >> 32 AND owner = $1 ORDER BY change, n;

-- name: items_of_owner_after
SELECT change, op, kind, ref, owner, before FROM change_item
WHERE project = $1::bigint >> 32 AND owner = $1 AND change > $2 ORDER BY change, n;

-- name: deleted_named
SELECT DISTINCT owner FROM change_item
WHERE project = $2::bigint >> 32 AND left(name, 200) = left($3::text, 200) AND name = $3 AND kind = 'm'
  AND +owner > $1 AND +owner <= $2;

-- name: deleted_names_starting
SELECT DISTINCT name FROM change_item
WHERE project = $2::bigint >> 32
  AND left(name, 200) >= left($3::text, 200) AND left(name, 200) <= left($4::text, 200)
  AND name >= $3 AND name < $4 AND +owner > $1 AND +owner <= $2 AND op = 'd' AND kind = 'm'
ORDER BY name LIMIT nullif($5::bigint, -1);

-- name: deleted_with_uid
SELECT DISTINCT owner FROM change_item
WHERE project = $1::bigint >> 32 AND owner > $1 AND owner <= $2 AND op = 'd' AND kind = 'm' AND before::json ->> 'uid' = $3;

-- name: deleted_between
SELECT DISTINCT owner FROM change_item
WHERE project = $2::bigint >> 32 AND owner > $1 AND owner <= $2 AND op = 'd' AND kind = 'm';

-- name: deleted_relations_between
SELECT ref, before FROM change_item WHERE project = $2::bigint >> 32 AND owner > $1 AND owner <= $2 AND op = 'd' AND kind = 'r';

-- name: deleted_relations_named
SELECT ref, before FROM change_item
WHERE project = $2::bigint >> 32 AND left(name, 200) = left($3::text, 200) AND name = $3 AND kind = 'r'
  AND ref > $1 AND ref <= $2
UNION
SELECT ref, before FROM change_item
WHERE project = $2::bigint >> 32 AND left(other, 200) = left($3::text, 200) AND other = $3 AND kind = 'r'
  AND ref > $1 AND ref <= $2;

-- name: memory_row
SELECT id, project, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra, created, updated, version
FROM memory WHERE project = $1::bigint >> 32 AND id = $1;

-- name: memory_rows_between
SELECT id, project, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra, created, updated, version
FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id;

-- name: observation_rows_between
SELECT id, memory, text FROM observation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id;

-- name: relation_row
SELECT id, project, source, target, type, strength, context, metadata, extra, origin, created
FROM relation WHERE project = $1::bigint >> 32 AND id = $1;

-- name: relation_ends_between
SELECT id, source, target, type, origin FROM relation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id;

-- name: relation_rows_between
SELECT id, project, source, target, type, strength, context, metadata, extra, origin, created
FROM relation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id;

-- name: restore_memory
INSERT INTO memory (id, project, uid, name, kind, scope, session, category, content_type, summary, tags, metadata, extra,
                    created, updated, version, name_fold, kind_fold, look)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19);

-- name: restore_relation
INSERT INTO relation (id, project, source, target, type, strength, context, metadata, extra, origin, created)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: names_of
SELECT name FROM memory WHERE project = $1::bigint >> 32 AND id = $1
UNION
SELECT name FROM change_item WHERE project = $1::bigint >> 32 AND owner = $1 AND kind = 'm';

-- name: purge_items
UPDATE change_item SET op = 'p', before = NULL, name = NULL, other = NULL
WHERE project = $1::bigint >> 32 AND owner = $1;

-- name: purge_named_items
UPDATE change_item SET op = 'p', before = NULL, name = NULL, other = NULL
WHERE project = $2::bigint >> 32 AND ((left(name, 200) = left($3::text, 200) AND name = $3)
  OR (left(other, 200) = left($3::text, 200) AND other = $3)) AND ref > $1 AND ref <= $2;

-- name: last_change
SELECT coalesce(max(id), 0) FROM change WHERE project = $1;

-- name: texts_between
SELECT id, id AS memory, name, kind, NULL::text, session, created, tags, category, summary, uid,
       NOT EXISTS (SELECT 1 FROM observation o WHERE o.project = $2::bigint >> 32 AND o.memory = memory.id), scope
FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
UNION ALL
SELECT o.id, o.memory, m.name, m.kind, o.text, m.session, m.created, NULL, NULL, NULL, m.uid, false, m.scope
FROM observation o
CROSS JOIN LATERAL (SELECT * FROM memory WHERE project = $2::bigint >> 32 AND id = o.memory OFFSET 0) m
WHERE o.project = $2::bigint >> 32 AND o.id > $1 AND o.id <= $2
ORDER BY 1;

-- name: texts_among
SELECT m.id, m.id, name, kind, NULL::text, session, created, tags, category, summary, uid,
       NOT EXISTS (SELECT 1 FROM observation o WHERE o.project = $1::bigint >> 32 AND o.memory = m.id), scope
FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT * FROM memory WHERE project = $1::bigint >> 32 AND id = $1 + j.value OFFSET 0) m
UNION ALL
SELECT o.id, o.memory, m.name, m.kind, o.text, m.session, m.created, NULL, NULL, NULL, m.uid, false, m.scope
FROM unnest($2::bigint[]) AS j (value)
CROSS JOIN LATERAL (SELECT * FROM observation WHERE project = $1::bigint >> 32 AND id = $1 + j.value OFFSET 0) o
CROSS JOIN LATERAL (SELECT * FROM memory WHERE project = $1::bigint >> 32 AND id = o.memory OFFSET 0) m
ORDER BY 1;

-- name: blocks
SELECT first, count, data FROM passage_block WHERE project = $1 AND first > $2 ORDER BY first;

-- name: add_block
INSERT INTO passage_block (project, first, count, low, high, data) VALUES ($1, $2, $3, $4, $5, $6);

-- name: set_block
UPDATE passage_block SET data = $1 WHERE project = $2 AND first = $3;

-- name: postings
SELECT data FROM posting WHERE project = $1 AND term = $2 ORDER BY first;

-- name: add_posting
INSERT INTO posting (project, term, first, data) VALUES ($1, $2, $3, $4);

-- name: posting
SELECT data FROM posting WHERE project = $1 AND term = $2 AND first = $3;

-- name: terms_of_block
SELECT term FROM posting WHERE project = $1 AND first = $2;

-- name: set_posting
UPDATE posting SET data = $1 WHERE project = $2 AND term = $3 AND first = $4;

-- name: drop_posting
DELETE FROM posting WHERE project = $1 AND term = $2 AND first = $3;

-- name: words_starting
SELECT DISTINCT term FROM posting WHERE project = $1 AND term >= $2 AND term < $3
ORDER BY term LIMIT nullif($4::bigint, -1);

-- name: gone
SELECT id FROM gone WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id;

-- name: add_gone
INSERT INTO gone (project, id) VALUES ($1::bigint >> 32, $1) ON CONFLICT DO NOTHING;

-- name: drop_gone
DELETE FROM gone WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 RETURNING id;

-- name: stale
SELECT id FROM stale WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id;

-- name: add_stale
INSERT INTO stale (project, id) VALUES ($1::bigint >> 32, $1) ON CONFLICT DO NOTHING;

-- name: drop_stale
DELETE FROM stale WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2;

-- name: changed_texts
SELECT DISTINCT ref FROM change_item WHERE project = $2 AND change > $1 AND kind <> 'r';

-- name: drop_blocks
DELETE FROM passage_block WHERE project = $1;

-- name: drop_postings
DELETE FROM posting WHERE project = $1;

-- name: blocks_with
SELECT first, count, data FROM passage_block WHERE project = $1 AND low <= $2 AND high >= $2;

-- name: model
SELECT id, dimensions FROM model WHERE name = $1;

-- name: model_in_use
SELECT 1 FROM project p CROSS JOIN LATERAL (
  SELECT 1 FROM vector_bits b WHERE b.project = p.id AND b.model = $1 ORDER BY b.id LIMIT 1) AS used
LIMIT 1;

-- name: set_dimensions
UPDATE model SET dimensions = $1 WHERE id = $2;

-- name: add_model
-- Another project may have added it at the same moment.
INSERT INTO model (name, dimensions) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING;

-- name: has_text
SELECT 1 FROM observation WHERE project = $1::bigint >> 32 AND id = $1
UNION ALL
SELECT 1 FROM memory WHERE project = $1::bigint >> 32 AND id = $1;

-- name: add_vector
INSERT INTO vector (project, id, model, text, part, half)
VALUES ($2::bigint >> 32, nextval('vector_id'), $1, $2, $3, $4)
ON CONFLICT DO NOTHING RETURNING id;

-- name: add_bits
INSERT INTO vector_bits (project, model, id, text, part, bits) VALUES ($1, $2, $3, $4, $5, $6);

-- name: vectors
SELECT id, text, part, bits FROM vector_bits WHERE project = $1 AND model = $2 AND id > $3
ORDER BY id LIMIT nullif($4::bigint, -1);

-- name: halves
SELECT v.* FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT id, half FROM vector WHERE project = $1 AND id = j.value OFFSET 0) v;

-- name: vectors_of_text
SELECT id, model FROM vector WHERE project = $1::bigint >> 32 AND text = $1;

-- name: halves_of_text
SELECT m.name, v.half FROM vector v JOIN model m ON m.id = v.model
WHERE v.project = $1::bigint >> 32 AND v.text = $1 ORDER BY v.part;

-- name: halves_of_observations
SELECT o.memory, o.id, m.name, v.half FROM unnest($2::bigint[]) AS j (value)
CROSS JOIN LATERAL (SELECT memory, id FROM observation WHERE project = $1 AND memory = j.value OFFSET 0) o
LEFT JOIN LATERAL (SELECT model, part, half FROM vector WHERE project = $1 AND text = o.id OFFSET 0) v ON true
LEFT JOIN model m ON m.id = v.model ORDER BY o.memory, o.id, v.part;

-- name: drop_vector
DELETE FROM vector WHERE project = $1 AND id = $2;

-- name: drop_bits
DELETE FROM vector_bits WHERE project = $1 AND model = $2 AND id = $3;

-- name: drop_vectors_of_model
DELETE FROM vector WHERE project = $2::bigint >> 32 AND model = $3 AND text > $1 AND text <= $2;

-- name: drop_bits_of_model
DELETE FROM vector_bits WHERE project = $1 AND model = $2;

-- name: drop_vectors
DELETE FROM vector WHERE project = $2::bigint >> 32 AND text > $1 AND text <= $2;

-- name: count_bits
SELECT count(*) FROM vector_bits WHERE project = $1;

-- name: drop_bits_of_project
DELETE FROM vector_bits WHERE project = $1;

-- name: models
SELECT m.id, m.name, m.dimensions, count(*) FROM vector_bits b JOIN model m ON m.id = b.model
WHERE b.project = $1 GROUP BY m.id ORDER BY m.id;

-- name: projects
SELECT name FROM project ORDER BY id;

-- name: unlisted_tags
SELECT 1 FROM (
  SELECT id, tags FROM (SELECT id, tags FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2
                        ORDER BY id DESC LIMIT 1000) AS newest
  WHERE tags IS JSON ARRAY LIMIT 1
) AS m CROSS JOIN LATERAL tags_in(m.tags) AS j (value)
WHERE NOT EXISTS (SELECT 1 FROM tag t WHERE t.project = $2::bigint >> 32 AND left(t.tag, 200) = left(j.value, 200)
                    AND t.tag = j.value AND t.memory = m.id) LIMIT 1;

-- name: drop_scopes
DELETE FROM scope WHERE project = $1;

-- name: count_scopes
INSERT INTO scope (project, path, slot, memories)
SELECT project, coalesce(scope, ''), id & 15, count(*) FROM memory WHERE project = $1 GROUP BY 1, 2, 3;

-- name: drop_tags
DELETE FROM tag WHERE project = $1;

-- name: list_tags
INSERT INTO tag (project, tag, memory) SELECT m.project, t.value, m.id
FROM memory m CROSS JOIN LATERAL tags_in(m.tags) AS t (value) WHERE m.project = $1
ON CONFLICT DO NOTHING;

-- name: count_texts
SELECT (SELECT count(*) FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2)
  + (SELECT count(*) FROM observation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2);

-- name: set_texts
UPDATE project SET texts = $1 WHERE id = $2;

-- name: facet_kinds
SELECT m.kind, count(*) FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT * FROM memory WHERE project = $1::bigint >> 32 AND id = $1 + j.value OFFSET 0) m
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT nullif($3::bigint, -1);

-- name: facet_content_types
SELECT m.content_type, count(*) FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT * FROM memory WHERE project = $1::bigint >> 32 AND id = $1 + j.value OFFSET 0) m
WHERE m.content_type IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT nullif($3::bigint, -1);

-- name: facet_scopes
SELECT m.scope, count(*) FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT * FROM memory WHERE project = $1::bigint >> 32 AND id = $1 + j.value OFFSET 0) m
WHERE m.scope IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT nullif($3::bigint, -1);

-- name: facet_tags
SELECT t.value COLLATE "C", count(*) FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT * FROM memory WHERE project = $1::bigint >> 32 AND id = $1 + j.value OFFSET 0) m
CROSS JOIN LATERAL tags_in(m.tags) AS t (value) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT nullif($3::bigint, -1);

-- name: facet_months
-- A time outside the years 1 to 9999 has no month.
SELECT CASE WHEN m.created BETWEEN -62135596800000000 AND 253402300799999999
            THEN to_char(to_timestamp(m.created / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM') COLLATE "C" END, count(*)
FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT * FROM memory WHERE project = $1::bigint >> 32 AND id = $1 + j.value OFFSET 0) m
GROUP BY 1 ORDER BY 2 DESC, 1 NULLS FIRST LIMIT nullif($3::bigint, -1);

-- name: changes_in_order
SELECT id, at, who, action, first, last FROM change WHERE project = $1 ORDER BY id;

-- name: memory_ids
SELECT id, session FROM memory WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id;

-- name: items_of_project
SELECT change, op, kind, ref, owner, CASE WHEN op = 'd' AND kind = 'm' THEN before END FROM change_item
WHERE project = $1 ORDER BY change, n;

-- name: observation_owners
SELECT id, memory FROM observation WHERE project = $2::bigint >> 32 AND id > $1 AND id <= $2 ORDER BY id;

-- name: seen
SELECT memory, hour, who, opened, found FROM seen
WHERE project = $2::bigint >> 32 AND memory > $1 AND memory <= $2 AND hour >= $3 AND hour < $4
ORDER BY hour, memory, who;

-- name: count_seen
-- Not of a memory that was deleted for good since it was read.
INSERT INTO seen (project, memory, hour, who, opened, found)
SELECT $1::bigint >> 32, $1, $2::bigint, $3::text, $4::bigint, $5::bigint
WHERE EXISTS (SELECT 1 FROM memory WHERE project = $1::bigint >> 32 AND id = $1)
   OR EXISTS (SELECT 1 FROM change_item WHERE project = $1::bigint >> 32 AND owner = $1 AND ref = $1 AND op <> 'p')
ON CONFLICT (project, memory, hour, who)
DO UPDATE SET opened = seen.opened + excluded.opened, found = seen.found + excluded.found;

-- name: forget_seen
DELETE FROM seen WHERE project = $1::bigint >> 32 AND memory = $1;

-- name: uids_of_ids
SELECT m.* FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT id, uid FROM memory WHERE project = $1 AND id = j.value OFFSET 0) m;

-- name: add_memory_many
-- Many rows at once, as an array of each column, as in all *_many. The scopes of the memories are then counted once.
INSERT INTO memory (id, project, uid, name, kind, name_fold, kind_fold, look, extra, created, updated, version)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bytea[],
                     $8::bigint[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[]);

-- name: add_observation_many
INSERT INTO observation (project, id, memory, digest, text, fold)
SELECT id >> 32, id, memory, digest, text, fold
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bytea[]) AS o (id, memory, digest, text, fold);

-- name: restore_relation_many
INSERT INTO relation (id, project, source, target, type, strength, context, metadata, extra, origin, created)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::double precision[],
                     $7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[]);

-- name: add_posting_many
INSERT INTO posting (project, term, first, data)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bytea[]);

-- name: add_item_many
INSERT INTO change_item (change, n, op, kind, ref, owner, before, name, other, project)
SELECT i.*, ref >> 32 FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
  $7::text[], $8::text[], $9::text[]) AS i (change, n, op, kind, ref, owner, before, name, other);

-- name: add_tag_many
INSERT INTO tag (project, tag, memory) SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[])
ON CONFLICT DO NOTHING;

-- name: index_many
-- The grams of each row as the text of an array, such as {1,2,3}: arrays within an array have one length.
INSERT INTO gram (project, id, grams)
SELECT id >> 32, id, grams::integer[] FROM unnest($1::bigint[], $2::text[]) AS g (id, grams)
ON CONFLICT (id, project) DO UPDATE SET grams = excluded.grams;

-- name: metadata_of
SELECT m.* FROM unnest($2::bigint[]) AS j (value) CROSS JOIN LATERAL (
  SELECT id, metadata FROM memory WHERE project = $1 AND id = j.value AND metadata IS NOT NULL OFFSET 0) m ORDER BY 1;

-- name: size
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text AND c.relkind = 'r';

-- name: transaction_status
SELECT CASE WHEN $1::text::xid8 < pg_snapshot_xmax(pg_current_snapshot()) THEN pg_xact_status($1::text::xid8) END;

-- name: has_change
SELECT 1 FROM change WHERE project = $1 AND first = $2 AND last = $3 AND at = $4;
