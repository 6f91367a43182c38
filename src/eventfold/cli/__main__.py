"""`python -m eventfold.cli` is the command `eventfold`."""

from . import main

main()
