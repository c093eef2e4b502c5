"""Who speaks: parameter and answer shapes and wording, nothing else. One folder a family of dialects."""
