"""Neural rivals of StrTransformer, and problems that others published.

`methods/` holds one method a file, `problems/` one generator a file; `run_rivals.py` beside this
folder runs them. Everything here is written from the papers' formulas. Nothing here trains or
changes StrTransformer itself, which takes part through its Python package.
"""
