"""Step 3: raw bytes → channel → files or answer lines. Pure, versioned, deletes nothing."""

PARSER_VERSION = "1"
