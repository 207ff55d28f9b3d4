"""StrTransformer itself, through its Python package, with default settings.

Where the mixing is nonlinear it takes its nonlinear mixer, as in `strt-lab recovery`. The budget
does not shorten it: it stops when its sources have settled. Sequences are pieces of one recording,
so that no window crosses from one to the next.
"""

import warnings

from ..interface import LINEAR, Found, Given, Method, Refused


def run(given: Given) -> Found:
    from strtransformer import Recording, StrTransformer

    model = StrTransformer(
        given.n_sources,
        mixer="affine" if given.is_linear else "mlp",
        random_state=given.seed,
        n_jobs=1,
    )
    recording = Recording(given.channels, pieces=given.lengths())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Found(model.fit_transform(recording))
        except ValueError as reason:
            raise Refused(str(reason)) from None


def version() -> str:
    try:
        import strtransformer
    except ImportError:
        return "not installed"
    return f"strtransformer {strtransformer.__version__}, defaults"


METHOD = Method(
    name="strt", paper="this repository", run=run, settings=version(), told=(LINEAR,)
)
