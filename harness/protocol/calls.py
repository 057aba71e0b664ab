"""What a reply turns out to be: a call, a malformed call, or no call at all.

Each holds `kept`, the part of the visible reply that goes back into the conversation: the
prose and the call, without anything behind an executed call and without invented results.
`flags` never change points; those in `FORM_REPAIRS` are reported per model.
"""

from dataclasses import dataclass, field
from typing import Literal

CONTENT = "content"  # the one argument that is written as a body

TOOL_CASE = "tool-case"  # marks, tool or keys are spelt or decorated in another way
JSON_ARGS = "json-args"  # the arguments are a JSON object
ONE_LINE = "one-line"  # arguments or the end stand on a line with something else
BARE_ARG = "bare-arg"  # the only argument has no key
CONTENT_HEADER = "content-header"  # the body is opened otherwise than by a line "@@BODY"
BODY_FENCE = "body-fence"  # a code fence around the whole body was taken away
UNTERMINATED = "unterminated"  # no end, and nothing but header arguments
INVENTED_RESULT = "invented-result"  # the reply holds a result that the model wrote itself
NATIVE_MARKUP = "native-markup"  # no call, but the markup of native ones
FORM_REPAIRS = frozenset({JSON_ARGS, BODY_FENCE, UNTERMINATED, CONTENT_HEADER})

MalformedCode = Literal[
    "no_end",
    "cut_by_length",
    "call_in_call",
    "no_tool",
    "unknown_tool",
    "bad_json",
    "missing_arg",
    "unknown_arg",
    "duplicate_arg",
    "body_not_allowed",
]


def folded(name: str) -> str:
    """Return a name without case, hyphens and underscores: how names are compared."""
    return name.casefold().replace("_", "").replace("-", "")


@dataclass(frozen=True)
class ToolSignature:
    """The arguments of a tool, as a task offers it.

    required, optional : names in the order of the description; `content` is written as a body
    """

    name: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def takes_content(self) -> bool:
        """Say whether a call of this tool has a body."""
        return CONTENT in (*self.required, *self.optional)

    @property
    def keys(self) -> tuple[str, ...]:
        """The arguments that are header lines."""
        return tuple(key for key in (*self.required, *self.optional) if key != CONTENT)

    @property
    def bare_key(self) -> str:
        """The argument that a value without a key can only mean, or nothing.

        It is the one required header argument, or the only one where none is required.
        """
        needed = [key for key in self.required if key != CONTENT] or list(self.keys)
        return needed[0] if len(needed) == 1 else ""


@dataclass(frozen=True)
class Idle:
    """A reply without a call. flags : `native-markup`, `invented-result`."""

    kept: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Malformed:
    """A call was begun and nothing is run.

    tool : its name, or the word that stands for one
    argument : the argument that is missing, unknown or repeated
    """

    code: MalformedCode
    kept: str
    tool: str = ""
    argument: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Call:
    """A call that is run.

    args : header arguments, only those that were given
    body : the argument `content`, exactly as the file shall read; None where none was given
    ignored : tools of the further calls of the reply, complete or not, as they were written
    """

    tool: str
    args: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    kept: str = ""
    ignored: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, str]:
        """Every argument by name, the body as `content`."""
        return self.args if self.body is None else {**self.args, CONTENT: self.body}


Read = Idle | Malformed | Call
