"""Families `dynamics` and `dynamics-nonlinear` of `strt-lab recovery`: sources of one law.

Independent runs of one system, made Gaussian by ranks, in five channels, noise 1 %. The numbers are
those of the program: the package `strtransformer` generates them.
"""

from ..interface import Problem, Recording

SYSTEMS = (
    "lorenz lorenzz rossler mackeyglass henon logistic vanderpol tar garch coupled".split()
)
N_CHANNELS, NOISE = 5, 0.01


def generate(seed: int, kind: str, mixing: str, n_samples: int) -> Recording:
    from strtransformer.datasets import make_mixture

    made = make_mixture(
        kind,
        mixing=mixing,
        n_samples=n_samples,
        n_channels=N_CHANNELS,
        noise=NOISE,
        random_state=seed,
    )
    return Recording(made.observations, made.sources, is_linear=mixing == "linear")


def problem(family: str, kind: str, mixing: str, n_samples: int) -> Problem:
    behind = "" if mixing == "linear" else f" {mixing}"
    return Problem(
        family=family,
        name=f"{kind}{behind} T{n_samples}",
        make=lambda seed: generate(seed, kind, mixing, n_samples),
    )


def problems(_size: str) -> list[Problem]:
    linear = [problem("dynamics", kind, "linear", 2000) for kind in SYSTEMS]
    bent = [
        problem("dynamics-nonlinear", "lorenz", mixing, n_samples)
        for mixing in ("asinh", "mlp2", "mlp3")
        for n_samples in (2000, 4000)
    ]
    return linear + bent
