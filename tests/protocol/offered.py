"""The tools that the tests of this room offer, and the two ways to read a reply with them."""

from harness.parsing.channel import Channel, read_channel
from harness.protocol.calls import Call, Read, ToolSignature
from harness.protocol.reading import read_reply

TAGS = ("think", "thinking", "thought", "reasoning", "reflection")
SIGNATURES = (
    ToolSignature("list_files", optional=("path",)),
    ToolSignature("read_file", required=("path",)),
    ToolSignature("write_file", required=("path", "content")),
    ToolSignature("delete_file", required=("path",)),
    ToolSignature("search", required=("text",), optional=("path",)),
    ToolSignature("sql", required=("query",)),
    ToolSignature("http_get", required=("url",)),
    ToolSignature("run_tests", optional=("suite",)),
    ToolSignature("finish", required=("summary", "closed", "failing")),
)
TOOLS = {tool.name: tool for tool in SIGNATURES}
READ_A = "@@CALL read_file\npath: a.py\n@@END"


def read(visible: str, *, cut: bool = False) -> Read:
    return read_reply(visible, TOOLS, cut=cut)


def called(visible: str, *, cut: bool = False) -> Call:
    got = read(visible, cut=cut)
    assert isinstance(got, Call), got
    return got


def heard(content: str, *, cut: bool = False, reasoning: str = "") -> tuple[Channel, Read]:
    """Read a reply as the loop does: the channel first, then the protocol."""
    channel = read_channel(content, reasoning, TAGS)
    return channel, read_reply(channel.text, TOOLS, cut=cut)


def essence(got: Read) -> tuple[str, dict[str, str], str | None] | None:
    """Return what a reply does to the world: nothing, or a call."""
    return (got.tool, got.args, got.body) if isinstance(got, Call) else None
