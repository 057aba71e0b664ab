"""The names of the tools that agent tasks may offer: a closed list."""

FINISH = "finish"
RUN_TESTS = "run_tests"
TOOL_NAMES = (
    "list_files",
    "read_file",
    "write_file",
    "delete_file",
    "search",
    "sql",
    "http_get",
    RUN_TESTS,
    FINISH,
)
