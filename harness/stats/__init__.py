"""Step 3: statistics. Arrays in, small frozen results out; no files, no records, no globals."""
