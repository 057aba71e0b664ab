"""Step 7: the verbs of the pipeline, each idempotent: validate, reparse, score, finalize."""
