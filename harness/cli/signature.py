"""`arnes signature`: the digest, its parts, and the files of each."""

from typing import Annotated

import typer

from harness.cli.terminal import JsonFlag, ProfileOption, instrument_for, print_json, say


def signature(
    profile: ProfileOption = None,
    files: Annotated[bool, typer.Option("--files", help="Name the files of every part.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Print the signature and its named parts."""
    from harness.signature import PARTS

    instrument = instrument_for(profile=profile)
    signed = instrument.signature
    if as_json:
        print_json(
            {
                "arnes_version": instrument.config.arnes_version,
                "profile": instrument.config.profile,
                "signature": signed.value,
                "run_side": signed.run_side,
                "score_side": signed.score_side,
                "lock": signed.lock,
                "parts": signed.parts,
                "files": {name: list(paths) for name, paths in signed.files.items()},
            }
        )
        return
    say(f"{instrument.config.arnes_version} ({instrument.config.profile})  {signed.value}")
    say(f"run side    {signed.run_side[:16]}\nscore side  {signed.score_side[:16]}\n")
    for part in PARTS:
        empty = not signed.files[part.name] and part.code + part.task_files
        about = f"{part.about} (no file yet)" if empty else part.about
        say(f"{part.side:5}  {part.name:16} {signed.parts[part.name][:16]}  {about}")
        for path in signed.files[part.name] if files else ():
            say(f"         {path}")
