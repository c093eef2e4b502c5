-- The numbers of server processes come from a sequence of their own. That of an unlogged table is unlogged too, and on a
-- standby that takes over soon after it was made it cannot be read: no server could join the others any more.
ALTER TABLE shared_process ALTER COLUMN number DROP IDENTITY IF EXISTS;
CREATE SEQUENCE IF NOT EXISTS shared_process_number;
SELECT setval('shared_process_number', coalesce(max(number), 0) + 1, false) FROM shared_process;
ALTER TABLE shared_process ALTER COLUMN number SET DEFAULT nextval('shared_process_number');
