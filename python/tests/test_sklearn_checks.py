"""scikit-learn's own checks of estimators, all of them.

Every check that is expected to fail is named here with the reason why it cannot pass.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from strtransformer import StrTransformer
from strtransformer.baselines import (
    AMUSE,
    EFICA,
    JADE,
    NSS,
    SOBI,
    WASOBI,
    Fast,
    FastICA,
    MultiCombi,
    Picard,
)

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
EXPECTED_OF_NSS = {
    "check_n_features_in_after_fitting": (
        "its 15 samples of 4 channels are fewer than the 16 that two block covariances need"
    )
}
EXPECTED_OF_FAST = {
    "check_n_features_in_after_fitting": "its 15 samples are fewer than the 16 that it needs",
    "check_fit2d_1feature": "as check_n_features_in_after_fitting, of 10 samples",
}
EXPECTED_OF_NO_STEPS = {**EXPECTED_OF_FAST, "check_transformer_n_iter": "it takes no steps"}


def expected_failures(estimator):
    if isinstance(estimator, NSS):
        return EXPECTED_OF_NSS
    if isinstance(estimator, Fast):
        return EXPECTED_OF_FAST
    if getattr(estimator, "preset", None) == "fast":
        return EXPECTED_OF_NO_STEPS
    return EXPECTED_OF_FREE if getattr(estimator, "config", None) == FREE else {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*too few for two patches:UserWarning")
@parametrize_with_checks(
    [
        StrTransformer(max_iter=4, n_jobs=1),
        StrTransformer(mixer="mlp", max_iter=4, n_jobs=1, config=BENT),
        StrTransformer(mixer="mlp", max_iter=4, n_jobs=1, config=FREE),
        StrTransformer(preset="fast", n_jobs=1),
        Fast(),
        FastICA(),
        Picard(),
        JADE(),
        AMUSE(),
        SOBI(lags=[1, 2]),
        NSS(n_blocks=2),
        WASOBI(order=2),
        EFICA(),
        MultiCombi(order=2),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
