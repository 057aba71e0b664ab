"""Step 2: the top-level `suite/` folder as definitions, forms and prompts. Nothing runs here."""
