"""
The command line. Thin: it reads bytes, asks the library, writes reports.

Law: whatever ends a command, even while it is still being loaded, ends it in one clear line and with one of the exit codes that
`eventfold --help` lists. Bad input never ends in a traceback.
"""

from __future__ import annotations

import sys

#: Exit codes as shells give them, 128 and the signal's number: SIGINT, SIGPIPE.
INTERRUPTED, READER_GONE = 130, 141


def main() -> None:
    """Run the command line, with one clear line for whatever ends it."""
    try:
        from .commands import run

        code = run()
    except KeyboardInterrupt:
        from .console import complain

        complain("interrupted")
        code = INTERRUPTED
    sys.exit(code)
