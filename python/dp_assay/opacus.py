"""An accountant with the interface of Opacus' accountants: certified epsilon of DP-SGD with Poisson-sampled batches.

It is used in place of opacus.accountants.RDPAccountant or PRVAccountant and needs neither Opacus nor torch itself:

    >>> from dp_assay.opacus import CertifiedAccountant
    >>> accountant = CertifiedAccountant()
    >>> for step in range(1000):
    ...     accountant.step(noise_multiplier=1.0, sample_rate=0.01)
    >>> accountant.get_epsilon(delta=1e-5)
    1.828236666...

To train with it, use CertifiedPrivacyEngine() in place of PrivacyEngine(): it refuses other batches than Poisson samples. Or call register() once: then
PrivacyEngine(accountant="certified"), make_private_with_epsilon and get_noise_multiplier(accountant="certified") of Opacus use the accountant, which sees
only noise multipliers and sampling rates: batches that are not Poisson samples have other losses.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import Composition, Enclosure, SampledGaussian
from ._native import _exact

if TYPE_CHECKING:
    from ._opacus_engine import CertifiedPrivacyEngine as CertifiedPrivacyEngine

# Without the engine, for which Opacus has to be installed.
__all__ = ["CertifiedAccountant", "SamplingWarning", "register"]

_MECHANISM = "certified"


class SamplingWarning(UserWarning):
    """An accountant reports an epsilon that holds for Poisson samples, and cannot see whether the batches are such."""


def __getattr__(name: str) -> Any:
    # The engine is a subclass of one of Opacus, which is imported only for it.
    if name != "CertifiedPrivacyEngine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return importlib.import_module("._opacus_engine", __package__).CertifiedPrivacyEngine
    except ImportError as error:
        raise ImportError("a CertifiedPrivacyEngine is one of Opacus: install dp-assay[opacus]") from error


def _shows(noise_multiplier: Any, sample_rate: Any) -> bool:
    """Whether a step shows anything of the records."""
    if not 0 <= sample_rate <= 1:
        raise ValueError(f"sample_rate = {sample_rate}: expected a probability from 0 to 1")
    return bool(sample_rate != 0 and noise_multiplier != math.inf)


def _check(noise_multiplier: Any, sample_rate: Any, steps: int = 1) -> None:
    """ValueError for a step that is out of range. A rate of 0 and infinite noise show nothing, no noise shows everything: they need no account."""
    if not noise_multiplier >= 0:
        raise ValueError(f"noise_multiplier = {noise_multiplier}: expected a number, 0 or more")
    if _shows(noise_multiplier, sample_rate) and noise_multiplier != 0:
        SampledGaussian(_exact(noise_multiplier) ** 2, _exact(sample_rate), steps)


def _share(noise_multiplier: float, batches: int) -> float:
    """The noise multiplier of each of several independent noises whose sum has the given one, rounded down."""
    whole, part = _exact(noise_multiplier) ** 2, noise_multiplier / math.sqrt(batches)
    while _exact(part) ** 2 * batches > whole:
        part = math.nextafter(part, 0)
    return part


_UNSEEN = (
    "This accountant sees noise multipliers and sampling rates only, and not how batches are drawn: make sure that they are Poisson samples "
    "(poisson_sampling=True in Opacus), or train with dp_assay.opacus.CertifiedPrivacyEngine, which refuses others."
)
_warned = False


def _warn() -> None:
    """Warns once in a process."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(_UNSEEN, SamplingWarning, stacklevel=4)


class CertifiedAccountant:
    """Accounts for steps of Gaussian noise on Poisson samples of the records.

    history: lists [noise_multiplier, sample_rate, steps], as Opacus keeps them; equal steps in a row are one entry. The first epsilon in a process
    comes with a SamplingWarning, unless the accountant is that of a CertifiedPrivacyEngine.
    """

    def __init__(self, *, digits: int = 12) -> None:
        self.history: list[tuple[float, float, int]] = []
        self._digits = digits
        # Whether the engine has checked that batches are Poisson samples.
        self._is_poisson = False

    def __len__(self) -> int:
        """The number of steps so far."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name of the accountant in saved states."""
        return _MECHANISM

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Adds a step. ValueError for a noise multiplier or a rate out of range; then nothing is added. A step without noise is added, and no epsilon is finite."""
        self._add(noise_multiplier, sample_rate, 1)

    def _add(self, noise_multiplier: float, sample_rate: float, steps: int) -> None:
        if self.history and tuple(self.history[-1][:2]) == (noise_multiplier, sample_rate):
            self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + steps)
        else:
            _check(noise_multiplier, sample_rate, steps)
            self.history.append((noise_multiplier, sample_rate, steps))

    @property
    def composition(self) -> Composition | None:
        """All steps so far; None if there are none. ValueError if one of them has no noise."""
        if self._shows_all():
            raise ValueError("a step without noise has no finite epsilon")
        parts = [SampledGaussian(_exact(noise) ** 2, _exact(rate), steps) for noise, rate, steps in self.history if _shows(noise, rate)]
        return Composition(parts) if parts else None

    def _shows_all(self) -> bool:
        return any(noise == 0 and rate > 0 for noise, rate, _ in self.history)

    @property
    def conditions(self) -> list[str]:
        """The conditions under which the epsilon holds, in sentences."""
        composition = None if self._shows_all() else self.composition
        own = [] if composition is None else composition.conditions
        return own if self._is_poisson else [*own, _UNSEEN]

    def _epsilon(self, delta: Any) -> Enclosure:
        if not self._is_poisson:
            _warn()
        composition = self.composition
        return Enclosure(0, 0) if composition is None else composition.epsilon(delta, digits=self._digits)

    def epsilon(self, delta: Any) -> Enclosure:
        """Epsilon at delta, proven from both sides. ValueError if a step has no noise."""
        return self._epsilon(delta)

    def get_epsilon(self, delta: float, **kwargs: Any) -> float:
        """The epsilon at delta, rounded up to a float: a proven upper bound. It is infinite if a step has no noise.

        Options of other accountants, such as alphas or eps_error, have no meaning here and are refused.
        """
        if kwargs:
            raise TypeError(f"get_epsilon of a certified accountant has no option {', '.join(kwargs)}: its error is proven")
        return math.inf if self._shows_all() else self._epsilon(delta).upper_float

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """A function that adds a step of a DPOptimizer: Opacus calls it after each one.

        If gradients of several batches were accumulated before the step, a record may be in several of them. Their sum with noise shows no more than each of them with its
        share of the noise: the history has these as steps. (Opacus takes one sample of a larger rate instead, which is no bound.)
        """

        def hook(optimizer: Any) -> None:
            noise, batches = optimizer.noise_multiplier, optimizer.accumulated_iterations
            is_one = batches == 1 or not 0 < noise < math.inf
            self._add(noise if is_one else _share(noise, batches), sample_rate, 1 if is_one else batches)

        return hook

    def state_dict(self, destination: dict[str, Any] | None = None) -> dict[str, Any]:
        """The history, to be saved with a model."""
        destination = {} if destination is None else destination
        destination["history"] = list(self.history)
        destination["mechanism"] = _MECHANISM
        return destination

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Takes the history of a saved state, also that of another accountant of Opacus: they keep the same steps.

        ValueError for a state without a history, or with a step that is out of range; then the own history stays.
        """
        if not isinstance(state_dict, Mapping) or "history" not in state_dict:
            raise ValueError("state_dict: expected a mapping with a history")
        history = []
        for entry in state_dict["history"]:
            try:
                noise, rate, steps = entry
            except (TypeError, ValueError):
                raise ValueError(f"history: {entry!r}: expected (noise_multiplier, sample_rate, steps)") from None
            if isinstance(steps, bool) or steps != int(steps) or steps < 1:
                raise ValueError(f"history: {steps!r} steps: expected a whole number, at least 1")
            _check(noise, rate, int(steps))
            history.append((noise, rate, int(steps)))
        self.history = history


def register(mechanism: str = _MECHANISM) -> None:
    """Makes the accountant known to Opacus by this name, as in PrivacyEngine(accountant="certified"). ImportError without Opacus 1.5 or newer.

    Doing so again changes nothing; a name of Opacus' own accountants is refused with a ValueError.
    """
    # Opacus is no dependency of this package.
    registry: Any = importlib.import_module("opacus.accountants.registry")
    try:
        registry.register_accountant(mechanism, CertifiedAccountant)
    except ValueError:
        if not isinstance(registry.create_accountant(mechanism), CertifiedAccountant):
            raise ValueError(f"mechanism = {mechanism!r}: another accountant of Opacus has this name") from None
