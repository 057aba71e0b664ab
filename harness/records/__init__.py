"""Step 1: every document that is persisted. Frozen, unknown keys forbidden, a schema number.

Documents outlive code: nothing of ours but `errors` is imported here.
"""
