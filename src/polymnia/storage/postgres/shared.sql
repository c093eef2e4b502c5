-- Statements of what server processes share. $1 is the time, or NULL for that of the database.

-- name: now
SELECT coalesce($1::double precision, extract(epoch FROM clock_timestamp())::double precision);

-- name: secret
SELECT value FROM shared_secret;

-- name: add_secret
INSERT INTO shared_secret (value) VALUES ($1) ON CONFLICT (one) DO NOTHING;

-- name: join
INSERT INTO shared_process (address, beat, figures) VALUES ($2::text, $1, '') RETURNING number;

-- name: drop_windows
DELETE FROM shared_window WHERE ends <= $1;

-- name: drop_processes
DELETE FROM shared_process WHERE beat <= $1::double precision - $2::double precision AND number <> $3;

-- name: drop_sessions
DELETE FROM shared_session s WHERE NOT EXISTS (SELECT 1 FROM shared_process p WHERE p.number = s.process);

-- name: beat
UPDATE shared_process SET beat = $1, figures = $3
WHERE number = $4 AND address IS NOT NULL AND beat > $1::double precision - $2::double precision RETURNING number;

-- name: alive
SELECT number, figures FROM shared_process
WHERE address IS NOT NULL AND beat > $1::double precision - $2::double precision ORDER BY number;

-- name: leave
UPDATE shared_process SET address = NULL, beat = $1 WHERE number = $2;

-- name: hold
INSERT INTO shared_session AS s (id, process, about) VALUES ($3::text, $4, $5)
ON CONFLICT (id) DO UPDATE SET process = excluded.process, about = excluded.about
WHERE s.process = excluded.process OR NOT EXISTS (
  SELECT 1 FROM shared_process p
  WHERE p.number = s.process AND p.address IS NOT NULL AND p.beat > $1::double precision - $2::double precision)
RETURNING id;

-- name: holder
SELECT s.process, p.address, s.about FROM shared_session s
LEFT JOIN shared_process p ON p.number = s.process AND p.beat > $1::double precision - $2::double precision
WHERE s.id = $3::text;

-- name: take_over
UPDATE shared_session SET process = $1 WHERE id = $2::text AND process = $3 RETURNING id;

-- name: release
DELETE FROM shared_session WHERE id = ANY($1::text[]) AND process = $2;

-- name: window
-- Found or made, and locked, at once: a window that has ended may be dropped at any moment.
INSERT INTO shared_window AS w (key, ends, taken) VALUES ($1::text, 0, 0)
ON CONFLICT (key) DO UPDATE SET taken = w.taken RETURNING ends, taken;

-- name: set_window
UPDATE shared_window SET ends = $2, taken = $3 WHERE key = $1::text;

-- name: notify
SELECT pg_notify($1::text, $2::text);
