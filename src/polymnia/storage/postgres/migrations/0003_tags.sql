-- A tag may have a backslash and a u in it, such as C:\udata: in JSON that is two backslashes, and no escaped character.
CREATE OR REPLACE FUNCTION tags_in(tags text) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (t.value #>> '{}') COLLATE "C" FROM json_array_elements(
    CASE WHEN tags IS JSON ARRAY AND tags !~* '(^|[^\\])(\\\\)*\\u(0000|d[89a-f])' THEN tags::json ELSE '[]' END
  ) AS t (value)
  WHERE json_typeof(t.value) = 'string'
$$;
INSERT INTO tag (project, tag, memory) SELECT m.project, t.value, m.id
FROM memory m CROSS JOIN LATERAL tags_in(m.tags) AS t (value) WHERE strpos(m.tags, '\\u') > 0
ON CONFLICT DO NOTHING;
