"""Step 5: talking to a served model, and the one double of a model that the house has."""
