-- What the server processes of a store share. Nothing in it is a memory, so nothing of it is written to the log:
-- a server that crashes begins with empty tables, and its clients shake hands again.

CREATE UNLOGGED TABLE shared_secret (
  one   boolean PRIMARY KEY DEFAULT true CHECK (one),
  value bytea NOT NULL
);

CREATE UNLOGGED TABLE shared_process (
  number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  address text,                       -- NULL: it has left
  beat    double precision NOT NULL,  -- when it last said that it is alive, in seconds since 1970
  figures bytea NOT NULL
);

CREATE UNLOGGED TABLE shared_session (
  id      text COLLATE "C" PRIMARY KEY,
  process bigint NOT NULL,
  about   bytea NOT NULL
);
CREATE INDEX shared_session_process ON shared_session (process);

CREATE UNLOGGED TABLE shared_window (
  key   text COLLATE "C" PRIMARY KEY,
  ends  double precision NOT NULL,
  taken bigint NOT NULL
);
