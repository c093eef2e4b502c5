-- Who made a change, in parts: the key or OAuth user, the client, the dialect and the tool. Null in older changes.
ALTER TABLE change ADD COLUMN account TEXT;
ALTER TABLE change ADD COLUMN client TEXT;
ALTER TABLE change ADD COLUMN dialect TEXT;
ALTER TABLE change ADD COLUMN tool TEXT;
