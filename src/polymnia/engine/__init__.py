"""What memory means: the rules, with no SQL, no JSON and no transport."""
