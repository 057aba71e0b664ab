"""The child of the embedded backend: one model, one port, one llama.cpp server inside Python.

    python -P embedded_server.py --weights FILE --alias NAME --window 8192 …

The first line on standard output is the address; everything else goes to standard error. It
ends when its standard input does, or when another process has become its parent: it cannot
outlive whoever started it, even if that was killed. Nothing of `harness` is imported here, so
that it starts where only the wheels are.

SIGTERM has no Python handler: a handler would have to wait for the generation that is going
on, whereas the default action ends the process at once.
"""

import argparse
import os
import select
import sys
from collections.abc import Sequence

HOST = "127.0.0.1"  # no key, and CORS is open: nobody else may reach it
PARENT_CHECK_S = 1.0


def main(arguments: Sequence[str]) -> None:
    """Serve until whoever started this is gone."""
    options = _options(arguments)
    parent = os.getppid()
    announce = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # llama.cpp must not write the first line

    import xllamacpp  # noqa: PLC0415 (100 MB of machine code: after the arguments are known good)

    params = xllamacpp.CommonParams()
    params.model.path = options.weights
    params.model_alias = {options.alias}
    params.hostnames = [HOST]
    params.port = 0
    params.n_ctx = options.window * options.slots  # the server divides it by the slots
    params.n_parallel = options.slots
    params.kv_unified = False  # a window of its own for each slot, whatever the others hold
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.prompt_threads
    params.n_gpu_layers = 0  # the processor everywhere, so that machines compute alike
    if options.template:  # the whole text: a name would be taken for one
        params.chat_template = options.template
    params.cache_prompt = options.cache_prompt
    params.cache_ram_mib = 0  # a second cache, of whole prompts, that defaults to 8 GiB
    params.ctx_shift = False  # a full window is an error, not a prompt that lost its head
    params.fit_params = False  # what was asked for, or a failure
    params.endpoint_metrics = True
    params.ui = False
    params.offline = True
    server = xllamacpp.Server(params)
    os.write(announce, f"{server.listening_address}\n".encode())
    os.close(announce)
    _wait_for_the_end(parent)
    os._exit(0)  # taking the server down in order would wait for the generation that is going on


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="embedded_server")
    parser.add_argument("--weights", required=True)
    parser.add_argument("--alias", required=True)
    parser.add_argument("--window", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--prompt-threads", type=int, required=True)
    parser.add_argument("--template", default="")
    parser.add_argument("--cache-prompt", action="store_true")
    return parser.parse_args(arguments)


def _wait_for_the_end(parent: int) -> None:
    """Return when standard input ends, or when another process has become the parent.

    The second covers a forked sibling that holds the pipe open after the parent is gone.
    """
    pipe = sys.stdin.fileno()
    while os.getppid() == parent:
        ready, _, _ = select.select([pipe], [], [], PARENT_CHECK_S)
        if ready and not os.read(pipe, 4096):
            return


if __name__ == "__main__":
    main(sys.argv[1:])
