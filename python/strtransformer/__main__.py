"""``python -m strtransformer`` is ``strt``."""

from .cli import main

main()
