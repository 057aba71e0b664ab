"""Step 9: what people read. Nothing is computed here that `FINAL.json` does not hold."""
