"""Step 8: the unattended run over models. It looks at durations, never at results."""
