"""A certified accountant with the interface of Google's dp-accounting, and an event for the discrete Gaussian.

dp-accounting up to version 0.6.0 has no such event. Its development sources have DiscreteGaussianDpEvent(sigma, sensitivity, dimension), which
is accepted too if the installed version has it.

    >>> from dp_accounting import dp_event
    >>> from dp_assay.dp_accounting import CertifiedAccountant
    >>> accountant = CertifiedAccountant().compose(dp_event.GaussianDpEvent(noise_multiplier=2.0), count=10)
    >>> accountant.get_epsilon(1e-6)
    8.230...

Needs the package dp-accounting: install dp-assay[dp-accounting].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dp_accounting import privacy_accountant

from ._events import Collected, DiscreteGaussianDpEvent, Key, Refused, Relation, Response, whole
from ._native import (
    Account,
    Approximate,
    Composition,
    DiscreteGaussian,
    Enclosure,
    Gaussian,
    SampledGaussian,
    _exact,
    zcdp_delta,
    zcdp_epsilon,
)

__all__ = ["CertifiedAccountant", "DiscreteGaussianDpEvent"]

_Details = privacy_accountant.PrivacyAccountant.CompositionErrorDetails


def _least(at: Callable[[Fraction], Enclosure | None]) -> Enclosure | None:
    """The bound with the least upper end that a search over the parts of epsilon or delta for zCDP events finds: each of them is proven."""
    best, step = Fraction(1, 2), Fraction(1, 4)
    found = at(best)
    while step >= Fraction(1, 256):
        for part in (best - step, best + step):
            other = at(part)
            if other is not None and (found is None or other.upper_float < found.upper_float):
                best, found = part, other
        step /= 2
    return found


class CertifiedAccountant(privacy_accountant.PrivacyAccountant):  # type: ignore[misc]
    """Accounts exactly for Gaussian events, also on Poisson samples, continuous and discrete Laplace and discrete Gaussian events, randomized response and
    (epsilon, delta) guarantees, for exponential mechanisms by their dominating pair, and by their rho for zCDP events: the better one of the rho of everything, and
    of basic composition with the exact account of everything else.

    get_epsilon and get_delta return floats that are proven upper bounds: the upper ends of epsilon and delta, which have both ends.
    Where neighbors replace a record by another (REPLACE_ONE), events of noise do not determine which values change by how much: then only
    randomized response, guarantees and exponential mechanisms are supported, and randomized response is supported for this relation alone. LaplaceDpEvent and
    DiscreteLaplaceDpEvent have the meaning of dp-accounting's own PLD accountant: one value changes by the sensitivity. A MixtureOfGaussiansDpEvent is
    supported if at most one of its sensitivities is above zero: it is then Gaussian noise on a Poisson sample. A guarantee is taken as that of the relation; the answer
    is the best that holds for all mechanisms with it. A SingleEpochTreeAggregationDpEvent is supported for REPLACE_SPECIAL, where a record is replaced by zero.
    `conditions` has the conditions under which the answers hold, such as fresh and secret Poisson samples.

    dp-accounting's own DiscreteGaussianDpEvent(sigma, sensitivity, dimension), which versions after 0.6.0 have, is exact for dimension = 1: one
    value changes by the sensitivity. For more dimensions, or an unknown number, the event does not determine which values change by how much,
    and it counts as (sensitivity^2 / (2 sigma^2))-zCDP.
    """

    def __init__(self, neighboring_relation: Any = Relation.ADD_OR_REMOVE_ONE, *, digits: int = 12) -> None:
        super().__init__(neighboring_relation)
        self._digits = digits
        # How often each mechanism is composed: a class and its parameters before count, and its shift, or a randomized response.
        self._counts: dict[Key, int] = {}
        self._examples: dict[Any, Account] = {}
        self._rho = Fraction(0)
        self._not_private = False

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        """The error of an event that is not supported; None, and the event is composed if requested. What an accountant
        with do_compose returns is not read, so that an error is raised there."""
        added = Collected(self.neighboring_relation, self._digits, self._counts, self._examples)
        try:
            try:
                count = whole(count, "count", 0)
            except (ValueError, TypeError, OverflowError) as error:
                raise Refused(event, str(error)) from None
            added.collect(event, max(count, 1))
        except Refused as refused:
            if do_compose:
                raise
            return _Details(invalid_event=refused.event, error_message=str(refused))
        # A count of 0 checks whether the event is supported.
        if do_compose and count > 0:
            self._counts.update(added.counts)
            self._examples = added.examples
            self._rho += added.rho
            self._not_private |= added.not_private
        return None

    def _accounts(self, up: bool) -> list[Account]:
        """The mechanisms so far; randomized response with its epsilon rounded in one direction."""

        def account(key: Any, count: int) -> Account:
            if isinstance(key, Response):
                return key.account(count, self._digits + 20, up)
            kind, parameters, shift = key
            made: Account = kind(*parameters, count, *([] if shift is None else [shift]))
            return made

        return [account(key, count) for key, count in self._counts.items()]

    @property
    def composition(self) -> Composition | None:
        """The composition so far, without zCDP events; None if it is empty. The epsilon of randomized response, which is no fraction, is rounded up."""
        parts = self._accounts(True)
        return Composition(parts) if parts else None

    @property
    def conditions(self) -> list[str]:
        """The conditions under which the answers hold, in sentences: of Poisson samples that every sample is fresh and secret."""
        composition = self.composition
        return [] if composition is None else composition.conditions

    def _enclosed(self, ask: Any) -> Enclosure:
        """An answer about the composition, which increases with the epsilon of randomized response."""
        composition = self.composition
        if composition is None:
            return Enclosure(0, 0)
        if not any(isinstance(key, Response) for key in self._counts):
            only: Enclosure = ask(composition, self._digits)
            return only
        # A digit more, because the errors of both answers add.
        digits = min(self._digits + 1, 250)
        most: Enclosure = ask(composition, digits)
        least: Enclosure = ask(Composition(self._accounts(False)), digits)
        met = Enclosure(least.lower, most.upper).is_tight(self._digits)
        return Enclosure(least.lower, most.upper, met=met, method=most.method)

    def _infinite(self) -> Fraction:
        """Upper bound on the probability of outputs that only one of two neighbors can have."""
        composition = self.composition
        mass = None if composition is None else composition.infinite_loss_mass
        return Fraction(0) if mass is None or mass.upper is None else mass.upper

    def epsilon(self, target_delta: Any) -> Enclosure:
        """Epsilon at delta, proven from both sides; with zCDP events only the upper end is about the mechanism.

        ValueError if delta is not between 0 and 1, or if there is no finite epsilon.
        """
        if self._not_private:
            raise ValueError("a non-private event has no finite epsilon")
        if self._rho == 0:
            return self._enclosed(lambda composition, digits: composition.epsilon(target_delta, digits=digits))
        split = self._split_epsilon(_exact(target_delta))
        try:
            together = self._epsilon_of_rho(target_delta)
        except ValueError:
            if split is None:
                raise
            return split
        return together if split is None or together.upper_float <= split.upper_float else split

    def _epsilon_of_rho(self, target_delta: Any) -> Enclosure:
        """Epsilon from the rho of everything."""
        mass = self._infinite()
        if mass == 0:
            return zcdp_epsilon(self._all_rho(), target_delta)
        # rho is about all other outputs, whose probability is 1 - mass.
        left = (_exact(target_delta) - mass) / (1 - mass)
        if left <= 0:
            raise ValueError(f"no epsilon is finite at delta = {target_delta}: guarantees leave an infinite loss with probability {float(mass):.6g}")
        return zcdp_epsilon(self._all_rho(), left)

    def _split_epsilon(self, delta: Fraction) -> Enclosure | None:
        """Epsilon by basic composition: zCDP events at a part of delta, and everything else at the remaining one. Where samples are among it, their rho is
        that of noise without samples, and this bound is the better one. None where no part leaves everything else an epsilon."""

        def at(part: Fraction) -> Enclosure | None:
            try:
                rest = self._enclosed(lambda composition, digits: composition.epsilon(delta * (1 - part), digits=digits))
            except ValueError:
                return None
            return rest + zcdp_epsilon(self._rho, delta * part)

        return _least(at) if self._counts else None

    def _split_delta(self, epsilon: Fraction) -> Enclosure | None:
        """Delta by basic composition: zCDP events at a part of epsilon, and everything else at the remaining one."""

        def at(part: Fraction) -> Enclosure:
            rest = self._enclosed(lambda composition, digits: composition.delta(epsilon * (1 - part), digits=digits))
            return rest + zcdp_delta(self._rho, epsilon * part)

        return _least(at) if self._counts else None

    def _all_rho(self) -> Fraction:
        composition = self.composition
        return self._rho + (composition.rho if composition is not None else 0)

    def delta(self, target_epsilon: Any) -> Enclosure:
        """Delta at epsilon, proven from both sides; with zCDP events only the upper end is about the mechanism."""
        if self._not_private:
            return Enclosure(1, 1)
        if self._rho == 0:
            return self._enclosed(lambda composition, digits: composition.delta(target_epsilon, digits=digits))
        mass = self._infinite()
        others = zcdp_delta(self._all_rho(), target_epsilon)
        together = others if mass == 0 else mass + (1 - mass) * others
        split = self._split_delta(_exact(target_epsilon))
        return together if split is None or together.upper_float <= split.upper_float else split

    def get_epsilon(self, target_delta: float) -> float:
        """The epsilon at delta, rounded up to a float; infinite if there is none."""
        if not 0 <= target_delta <= 1:
            raise ValueError(f"target_delta = {target_delta}: expected a probability from 0 to 1")
        if target_delta == 1:
            return 0.0
        if self._not_private:
            return math.inf
        if target_delta == 0:
            return self._pure_epsilon()
        # Infinity is an upper bound in any case, also where delta is within the error of that probability.
        mass = self._infinite()
        if mass and _exact(target_delta) <= mass:
            return math.inf
        return self.epsilon(target_delta).upper_float

    def _pure_epsilon(self) -> float:
        """At delta = 0 only a bounded loss has an epsilon."""
        unbounded = (Gaussian, SampledGaussian, DiscreteGaussian, Approximate)
        if self._rho or any(not isinstance(key, Response) and key[0] in unbounded for key in self._counts):
            return math.inf
        return self._enclosed(lambda composition, digits: composition.epsilon(0, digits=digits)).upper_float

    def get_delta(self, target_epsilon: float) -> float:
        """The delta at epsilon, rounded up to a float."""
        if math.isnan(target_epsilon) or target_epsilon < 0:
            raise ValueError(f"target_epsilon = {target_epsilon}: expected 0 or more")
        if math.isinf(target_epsilon):
            return 1.0 if self._not_private else Enclosure(self._infinite(), self._infinite()).upper_float
        return self.delta(target_epsilon).upper_float
