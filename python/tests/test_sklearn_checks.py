"""scikit-learn's own checks of estimators, all of them; classical methods with default parameters.

Every check that is expected to fail is named here with the reason why it cannot pass.
"""

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from strtransformer import StrTransformer, baselines

IN_TIME = (
    "the sources of new samples, free in every one of them, are optimised together, in the order of"
    " time"
)
# Under this schedule the few steps are enough to bend the sources.
BENT = {"optimizer.schedule.kind": "cosine"}
FREE = {"sources.coordinates": "fiber", **BENT}
EXPECTED_OF_FREE = {
    "check_methods_sample_order_invariance": IN_TIME,
    "check_methods_subset_invariance": IN_TIME + "; and single rows hold no patch",
    "check_transformer_general": (
        "fit_transform gives the sources that were optimised with the model, transform those of a "
        "frozen model"
    ),
    "check_transformer_data_not_an_array": "as check_transformer_general",
    "check_fit_idempotent": "its 20 test rows are too few for two patches of 16 samples",
}
EXPECTED_OF_NO_STEPS = {"check_transformer_n_iter": "it takes no steps"}
EXPECTED_OF_THE_PAPER = {
    "check_estimators_pickle": (
        "its 10 missing values leave no stretch of 8 samples, which two patches that do not overlap"
        " need"
    )
}


def expected_failures(estimator):
    preset, config = getattr(estimator, "preset", None), getattr(estimator, "config", None)
    if preset == "fast":
        return EXPECTED_OF_NO_STEPS
    if preset == "paper":
        return EXPECTED_OF_THE_PAPER
    return EXPECTED_OF_FREE if config == FREE else {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*too few for two patches:UserWarning")
@parametrize_with_checks(
    [
        StrTransformer(max_iter=4, n_jobs=1),
        StrTransformer(mixer="mlp", max_iter=4, n_jobs=1, config=BENT),
        StrTransformer(mixer="mlp", max_iter=4, n_jobs=1, config=FREE),
        StrTransformer(preset="fast", n_jobs=1),
        StrTransformer(preset="paper", max_iter=4, n_jobs=1),
        *(
            getattr(baselines, name)()
            for name in baselines.__all__
            if isinstance(getattr(baselines, name), type)
            and issubclass(getattr(baselines, name), BaseEstimator)
        ),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
def test_the_estimator_passes_with_default_parameters():
    """All steps that it would take, on the small tables of the checks."""
    failed = [
        result["check_name"]
        for result in check_estimator(StrTransformer(), on_fail=None)
        if result["status"] == "failed"
    ]
    assert not failed
