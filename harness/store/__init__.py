"""Step 5: a campaign on disk. Raw is write-once; what is derived is replaced whole."""
