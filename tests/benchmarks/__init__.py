"""
How fast eventfold is, beside what else reads such streams: all in one run, in turn.

    python -m tests.benchmarks            in the root of the repository; --quick, --help

`workloads` are the streams, `contenders` who reads them, `measure` takes time and memory, `growth` fits exponents, `targets` says
what is to be reached, `report`, `plot` and `page` show it. `work` counts work instead of time; tests/test_work.py guards by it.
"""
