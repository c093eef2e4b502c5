-- Row level security for a store on PostgreSQL: a tenant is a role, and its projects are those named as the role is,
-- or below that name (acme, acme/site). The database refuses every other row, whatever asks for it.
--
-- Run it as the owner of the schema, after `polymnia` has made the tables and after every upgrade of Polymnia:
--   psql --set schema=polymnia --set tenant=acme --file tenants.sql DATABASE
-- Each tenant then has a server of its own, which connects as its role: polymnia serve --project acme
-- The owner is not held back: let servers connect as tenants only.

\set ON_ERROR_STOP on
\if :{?schema} \else \set schema polymnia \endif
BEGIN;
SELECT set_config('polymnia.schema', :'schema', true), set_config('polymnia.tenant', :'tenant', true) \g /dev/null

DO $$
DECLARE
  store  text := current_setting('polymnia.schema');
  tenant text := current_setting('polymnia.tenant');
  one    record;
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', store, tenant);
  EXECUTE format('GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA %I TO %I', store, tenant);
  FOR one IN
    SELECT c.relname AS name, c.relrowsecurity AS guarded,
      EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'project') AS of_a_project
    FROM pg_class c WHERE c.relnamespace = store::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  LOOP
    IF one.name = 'store' THEN
      EXECUTE format('GRANT SELECT ON %I.%I TO %I', store, one.name, tenant);
      CONTINUE;
    END IF;
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I.%I TO %I', store, one.name, tenant);
    IF one.guarded THEN
      CONTINUE;
    ELSIF one.name = 'project' THEN
      EXECUTE format('ALTER TABLE %I.project ENABLE ROW LEVEL SECURITY', store);
      EXECUTE format('CREATE POLICY tenant ON %I.project USING (name = current_user '
        'OR starts_with(name, current_user || ''/''))', store);
    ELSIF one.of_a_project THEN
      EXECUTE format('ALTER TABLE %I.%I ENABLE ROW LEVEL SECURITY', store, one.name);
      -- The policy of project holds inside this one.
      EXECUTE format('CREATE POLICY tenant ON %I.%I USING (EXISTS (SELECT FROM %I.project p WHERE p.id = %I.project))',
        store, one.name, store, one.name);
    END IF;
  END LOOP;
END $$;
COMMIT;
