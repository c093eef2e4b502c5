-- Finds the memories that say exactly the same as a text: the digest of an observation is now that of its normal form
-- (polymnia.models.normal). Those of older observations are made anew by the upgrade.
CREATE INDEX observation_digest ON observation (digest);
