"""A privacy engine of Opacus that refuses batches for which the accountant's epsilon does not hold."""

from __future__ import annotations

from typing import Any

from opacus import PrivacyEngine

from . import opacus


class CertifiedPrivacyEngine(PrivacyEngine):  # type: ignore[misc]
    """Opacus' PrivacyEngine with a CertifiedAccountant. Every batch is a fresh Poisson sample: poisson_sampling=False is refused with a ValueError.

    digits: those of the accountant's epsilon. All other arguments and methods are those of Opacus. Train with the data loader that
    make_private returns; that of the argument draws other batches.
    """

    def __init__(self, *, digits: int = 12, **options: Any) -> None:
        if "accountant" in options:
            raise TypeError("accountant: that of a CertifiedPrivacyEngine is the certified one")
        opacus.register()
        super().__init__(accountant=opacus.CertifiedAccountant.mechanism(), **options)
        self.accountant = opacus.CertifiedAccountant(digits=digits)
        self.accountant._is_poisson = True

    def make_private(self, *, poisson_sampling: bool = True, **options: Any) -> Any:
        """As in Opacus, with Poisson samples as batches."""
        _require(poisson_sampling)
        return super().make_private(poisson_sampling=True, **options)

    def make_private_with_epsilon(self, *, poisson_sampling: bool = True, **options: Any) -> Any:
        """As in Opacus, with the noise multiplier for which the certified epsilon at the end is at most the target."""
        _require(poisson_sampling)
        before, opacus._warned = opacus._warned, True
        try:
            return super().make_private_with_epsilon(poisson_sampling=True, **options)
        finally:
            opacus._warned = before


def _require(poisson_sampling: Any) -> None:
    if poisson_sampling is not True:
        raise ValueError(
            f"poisson_sampling = {poisson_sampling!r}: expected True; epsilon is certified for Poisson samples, and batches of a shuffled data set have other losses"
        )
