"""Step 3: tool calls as plain text: read from a reply, written into a conversation.

Pure: no file, clock or chance. What is read is the visible text of a reply; whoever calls
takes reasoning and channel markup away first (`parsing.channel`).
"""
