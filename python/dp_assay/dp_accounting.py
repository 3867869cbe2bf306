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

import decimal
import math
from fractions import Fraction
from typing import Any

import attr
from dp_accounting import dp_event, privacy_accountant

from ._native import (
    Account,
    Approximate,
    BoundedRange,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    Enclosure,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    SampledGaussian,
    zcdp_delta,
    zcdp_epsilon,
)

__all__ = ["CertifiedAccountant", "DiscreteGaussianDpEvent"]

_Relation = privacy_accountant.NeighboringRelation
_Details = privacy_accountant.PrivacyAccountant.CompositionErrorDetails


@attr.s(frozen=True, slots=True, auto_attribs=True)
class DiscreteGaussianDpEvent(dp_event.DpEvent):  # type: ignore[misc]
    """Integer values with discrete Gaussian noise N_Z(0, sigma2) on each; not the event of the same name in dp-accounting after 0.6.0.

    sigma2: the variance proxy; exact, a float is the shortest decimal that prints it. sensitivity: by how much one record changes each of
    the values, an integer. count: the number of values that one record changes.
    """

    sigma2: Any
    sensitivity: int = 1
    count: int = 1


# Events that not every version of dp-accounting has, recognized by the names of their class and fields.
_FIELDS = {
    "DiscreteGaussianDpEvent": {"sigma", "sensitivity", "dimension"},
    "RandomizedResponseDpEvent": {"noise_parameter", "num_buckets"},
    "EpsilonDeltaDpEvent": {"epsilon", "delta"},
    "ExponentialMechanismDpEvent": {"epsilon"},
}

# Why an event is not supported, in addition to its name.
_SAMPLED = "of samples only Poisson samples of Gaussian noise are accounted for"
_WHY = {
    "SampledWithReplacementDpEvent": _SAMPLED,
    "SampledWithoutReplacementDpEvent": _SAMPLED,
    "TruncatedSubsampledGaussianDpEvent": _SAMPLED,
    "SingleEpochTreeAggregationDpEvent": "a record changes a different number of values of each tree; compose a GaussianDpEvent for the values of the worst case",
    "RepeatAndSelectDpEvent": "the number of repetitions is random",
}


def _known(event: Any) -> str | None:
    """The name of an event of _FIELDS."""
    name = type(event).__name__
    fields = {field.name for field in attr.fields(type(event))} if attr.has(type(event)) else set()
    return name if fields and _FIELDS.get(name) == fields else None


def _exact(number: Any) -> Fraction:
    """A float as the shortest decimal that prints it."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(str(number))


def _whole(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or value != int(value) or value < least:
        raise ValueError(f"{name} = {value}: expected a whole number, at least {least}")
    return int(value)


def _logarithm(ratio: Fraction, digits: int, up: bool) -> Fraction:
    """ln(ratio) of a ratio above 1, rounded to this many digits in one direction."""
    # decimal's logarithm is correctly rounded to the nearest, so that the next number beyond it is a bound.
    context = decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR)
    nearest = context.ln(context.divide(decimal.Decimal(ratio.numerator), decimal.Decimal(ratio.denominator)))
    return Fraction(context.next_plus(nearest) if up else context.next_minus(nearest))


class _Response:
    """Randomized response whose epsilon is no fraction: the logarithm of this ratio."""

    def __init__(self, ratio: Fraction, answers: int) -> None:
        self.ratio, self.answers = ratio, answers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Response) and (self.ratio, self.answers) == (other.ratio, other.answers)

    def __hash__(self) -> int:
        return hash((self.ratio, self.answers))

    def account(self, count: int, digits: int, up: bool) -> RandomizedResponse:
        """With epsilon rounded in one direction: less epsilon is more noise on the answer, so that delta and epsilon at delta are rounded in the same one."""
        return RandomizedResponse(_logarithm(self.ratio, digits, up), self.answers, count)


class CertifiedAccountant(privacy_accountant.PrivacyAccountant):  # type: ignore[misc]
    """Accounts exactly for Gaussian events, also on Poisson samples, continuous and discrete Laplace and discrete Gaussian events, randomized response and
    (epsilon, delta) guarantees, for exponential mechanisms by their dominating pair, and by their rho for zCDP events.

    get_epsilon and get_delta return floats that are proven upper bounds: the upper ends of epsilon and delta, which have both ends.
    Where neighbors replace a record by another (REPLACE_ONE), events of noise do not determine which values change by how much: then only
    randomized response, guarantees and exponential mechanisms are supported, and randomized response is supported for this relation alone. LaplaceDpEvent and
    DiscreteLaplaceDpEvent have the meaning of dp-accounting's own PLD accountant: one value changes by the sensitivity. A MixtureOfGaussiansDpEvent is
    supported if at most one of its sensitivities is above zero: it is then Gaussian noise on a Poisson sample. A guarantee is taken as that of the relation; the answer
    is the best that holds for all mechanisms with it.

    dp-accounting's own DiscreteGaussianDpEvent(sigma, sensitivity, dimension), which versions after 0.6.0 have, is exact for dimension = 1: one
    value changes by the sensitivity. For more dimensions, or an unknown number, the event does not determine which values change by how much,
    and it counts as (sensitivity^2 / (2 sigma^2))-zCDP.
    """

    def __init__(self, neighboring_relation: Any = _Relation.ADD_OR_REMOVE_ONE, *, digits: int = 12) -> None:
        super().__init__(neighboring_relation)
        self._digits = digits
        # How often each mechanism is composed: a class and its parameters before count, and its shift, or a randomized response.
        self._counts: dict[tuple[Any, tuple[Fraction, ...], int | None] | _Response, int] = {}
        self._rho = Fraction(0)
        self._not_private = False

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        match event:
            case dp_event.NoOpDpEvent():
                return None
            case dp_event.NonPrivateDpEvent():
                self._not_private |= do_compose and count > 0
                return None
            case dp_event.SelfComposedDpEvent():
                return self._maybe_compose(event.event, event.count * count, do_compose)
            case dp_event.ComposedDpEvent():
                found = (self._maybe_compose(each, count, do_compose) for each in event.events)
                return next((details for details in found if details is not None), None)
        try:
            match _known(event):
                case "DiscreteGaussianDpEvent":
                    return self._compose_theirs(event, count, do_compose)
                case "RandomizedResponseDpEvent":
                    return self._compose_response(event, count, do_compose)
                case "EpsilonDeltaDpEvent":
                    return self._compose_guarantee(event, count, do_compose)
                case "ExponentialMechanismDpEvent":
                    return self._compose_range(event, count, do_compose)
                case _:
                    return self._compose_noise(event, count, do_compose)
        except (ValueError, TypeError, OverflowError) as error:
            return _Details(invalid_event=event, error_message=str(error))

    def _add(self, key: Any, account: Any, count: int, do_compose: bool) -> None:
        """Adds mechanisms whose account can be made, and composed with the others; ValueError if it cannot."""
        made = account(max(count, 1))
        if any(not isinstance(other, _Response) and other[0] is SampledGaussian for other in [key, *self._counts]):
            Composition([made, *self._accounts(True)])
        if do_compose and count > 0:
            self._counts[key] = self._counts.get(key, 0) + count

    def _compose_response(self, event: Any, count: int, do_compose: bool) -> Any:
        """The true answer of k with probability 1 - p, else a uniform one: ln(1 + k (1 - p) / p) is the largest loss."""
        if self.neighboring_relation != _Relation.REPLACE_ONE:
            raise ValueError(f"randomized response is about {_Relation.REPLACE_ONE.name}, here {self.neighboring_relation.name}")
        p, answers = _exact(event.noise_parameter), _whole(event.num_buckets, "num_buckets", 1)
        if not 0 <= p <= 1:
            raise ValueError(f"noise_parameter = {event.noise_parameter}: expected a probability from 0 to 1")
        if answers == 1 or p == 1:
            return None
        if p == 0:
            self._not_private |= do_compose and count > 0
            return None
        key = _Response(1 + answers * (1 - p) / p, answers)
        self._add(key, lambda count: key.account(count, self._digits + 20, True), count, do_compose)
        return None

    def _compose_guarantee(self, event: Any, count: int, do_compose: bool) -> Any:
        if event.delta == 1 or (event.epsilon == math.inf and 0 <= event.delta <= 1):
            self._not_private |= do_compose and count > 0
            return None
        epsilon, delta = _exact(event.epsilon), _exact(event.delta)
        if epsilon == 0 and delta == 0:
            return None
        kind: Any
        parameters: tuple[Any, ...]
        kind, parameters = (Pure, (epsilon,)) if delta == 0 else (Approximate, (epsilon, delta))
        self._add((kind, parameters, None), lambda count: kind(*parameters, count), count, do_compose)
        return None

    def _compose_range(self, event: Any, count: int, do_compose: bool) -> Any:
        """An exponential mechanism with weights exp(epsilon u / (2 sensitivity)): the losses of two outputs differ by at most epsilon."""
        if event.epsilon == math.inf:
            self._not_private |= do_compose and count > 0
            return None
        epsilon = _exact(event.epsilon)
        if epsilon == 0:
            return None
        self._add((BoundedRange, (epsilon,), None), lambda count: BoundedRange(epsilon, count), count, do_compose)
        return None

    def _compose_noise(self, event: Any, count: int, do_compose: bool) -> Any:
        kind: Any
        if self.neighboring_relation == _Relation.REPLACE_ONE and not isinstance(event, dp_event.ZCDpEvent):
            noise = (
                dp_event.GaussianDpEvent,
                dp_event.LaplaceDpEvent,
                dp_event.DiscreteLaplaceDpEvent,
                DiscreteGaussianDpEvent,
                dp_event.MixtureOfGaussiansDpEvent,
                dp_event.PoissonSampledDpEvent,
            )
            if not isinstance(event, noise):
                raise self._unsupported(event)
            raise ValueError(f"{_Relation.REPLACE_ONE.name}: an event does not say which values a replaced record changes")
        match event:
            case dp_event.GaussianDpEvent(noise_multiplier=multiplier):
                kind, parameter, shift = Gaussian, _exact(multiplier) ** 2, 1
            case dp_event.PoissonSampledDpEvent(sampling_probability=rate, event=sampled):
                return self._compose_sampled(_exact(rate), sampled, count, do_compose)
            case dp_event.MixtureOfGaussiansDpEvent():
                return self._compose_mixture(event, count, do_compose)
            case dp_event.LaplaceDpEvent(noise_multiplier=multiplier):
                kind, parameter, shift = Laplace, _exact(multiplier), 1
            case dp_event.DiscreteLaplaceDpEvent(noise_parameter=epsilon, sensitivity=shift):
                kind, parameter = DiscreteLaplace, _exact(epsilon)
            case DiscreteGaussianDpEvent(sigma2=sigma2, sensitivity=shift):
                kind, parameter, count = DiscreteGaussian, _exact(sigma2), count * event.count
            case dp_event.ZCDpEvent(rho=rho, xi=0):
                rho = _exact(rho)
                if rho < 0:
                    raise ValueError(f"rho = {rho}: expected 0 or more")
                self._rho += rho * count if do_compose else 0
                return None
            case dp_event.ZCDpEvent():
                raise ValueError("(xi, rho)-zCDP with xi above 0 is not supported: expected xi = 0")
            case _:
                raise self._unsupported(event)
        if parameter == 0:
            # No noise at all.
            self._not_private |= do_compose and count > 0
            return None
        self._add((kind, (parameter,), shift), lambda count: kind(parameter, count, shift), count, do_compose)
        return None

    def _compose_sampled(self, rate: Fraction, event: Any, count: int, do_compose: bool) -> Any:
        """Gaussian noise on a Poisson sample: several noises on one sample are one whose precision is the sum of theirs."""
        if not 0 <= rate <= 1:
            raise ValueError(f"sampling_probability = {float(rate)}: expected a probability from 0 to 1")
        precision = self._precision(event)
        if rate == 0 or precision == 0:
            return None
        if precision is None:
            # No noise at all.
            self._not_private |= do_compose and count > 0
            return None
        parameters = (1 / precision, rate)
        self._add((SampledGaussian, parameters, 1), lambda count: SampledGaussian(*parameters, count), count, do_compose)
        return None

    def _compose_mixture(self, event: Any, count: int, do_compose: bool) -> Any:
        """Gaussian noise with a random sensitivity, zero or another one: that on a Poisson sample with the probability of the other one."""
        sensitivities, probabilities = [[_exact(one) for one in many] for many in (event.sensitivities, event.sampling_probs)]
        if len(sensitivities) != len(probabilities) or min([*sensitivities, *probabilities], default=Fraction(-1)) < 0:
            raise ValueError("sensitivities and sampling_probs: expected as many of each, all 0 or more")
        total = sum(probabilities, Fraction(0))
        if abs(total - 1) > Fraction(1, 10**9):
            raise ValueError(f"sampling_probs add up to {float(total)}: expected 1")
        some = {one for one, probability in zip(sensitivities, probabilities) if one > 0 and probability > 0}
        if not some:
            return None
        if len(some) > 1:
            raise ValueError("MixtureOfGaussiansDpEvent with several sensitivities above zero is not supported: its losses are not those of Poisson samples")
        sensitivity = some.pop()
        never = sum((probability for one, probability in zip(sensitivities, probabilities) if one == 0), Fraction(0))
        # Where floats do not add up to one exactly, the larger probability to be in the sample.
        rate = min(max(1 - never, total - never), Fraction(1))
        noise = dp_event.GaussianDpEvent(_exact(event.standard_deviation) / sensitivity)
        if rate == 1:
            return self._compose_noise(noise, count, do_compose)
        return self._compose_sampled(rate, noise, count, do_compose)

    def _precision(self, event: Any) -> Fraction | None:
        """The sum of 1 / sigma2 over all Gaussian noise of an event; None where one has no noise."""
        match event:
            case dp_event.NoOpDpEvent():
                return Fraction(0)
            case dp_event.GaussianDpEvent(noise_multiplier=multiplier):
                sigma2 = _exact(multiplier) ** 2
                return 1 / sigma2 if sigma2 else None
            case dp_event.SelfComposedDpEvent():
                one, times = self._precision(event.event), _whole(event.count, "count", 0)
                return Fraction(0) if times == 0 else None if one is None else one * times
            case dp_event.ComposedDpEvent():
                each = [self._precision(one) for one in event.events]
                return None if any(one is None for one in each) else sum((one for one in each if one is not None), Fraction(0))
            case _:
                raise ValueError(f"PoissonSampledDpEvent of {type(event).__name__} is not supported: {_SAMPLED}")

    def _unsupported(self, event: Any) -> ValueError:
        name = type(event).__name__
        why = _WHY.get(name)
        return ValueError(f"{name} is not supported{f': {why}' if why else ''}")

    def _compose_theirs(self, event: Any, count: int, do_compose: bool) -> Any:
        """Integer values whose changes have a Euclidean norm of at most the sensitivity, with noise N_Z(0, sigma^2)."""
        sigma, sensitivity, dimension = _exact(event.sigma), _exact(event.sensitivity), event.dimension
        if sigma < 0 or sensitivity < 0:
            raise ValueError(f"sigma = {event.sigma}, sensitivity = {event.sensitivity}: expected 0 or more")
        if dimension is not None:
            _whole(dimension, "dimension", 1)
        # Integers change by integers: by no more than the sensitivity rounded down.
        shift = math.floor(sensitivity)
        if shift == 0:
            return None
        if dimension == 1:
            return self._compose_noise(DiscreteGaussianDpEvent(sigma**2, shift), count, do_compose)
        if sigma == 0:
            self._not_private |= do_compose and count > 0
            return None
        return self._compose_noise(dp_event.ZCDpEvent(rho=sensitivity**2 / (2 * sigma**2)), count, do_compose)

    def _accounts(self, up: bool) -> list[Account]:
        """The mechanisms so far; randomized response with its epsilon rounded in one direction."""

        def account(key: Any, count: int) -> Account:
            if isinstance(key, _Response):
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

    def _enclosed(self, ask: Any) -> Enclosure:
        """An answer about the composition, which increases with the epsilon of randomized response."""
        composition = self.composition
        if composition is None:
            return Enclosure(0, 0)
        if not any(isinstance(key, _Response) for key in self._counts):
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
        mass = self._infinite()
        if mass == 0:
            return zcdp_epsilon(self._all_rho(), target_delta)
        # rho is about all other outputs, whose probability is 1 - mass.
        left = (_exact(target_delta) - mass) / (1 - mass)
        if left <= 0:
            raise ValueError(f"no epsilon is finite at delta = {target_delta}: guarantees leave an infinite loss with probability {float(mass):.6g}")
        return zcdp_epsilon(self._all_rho(), left)

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
        return others if mass == 0 else mass + (1 - mass) * others

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
        if self._rho or any(not isinstance(key, _Response) and key[0] in unbounded for key in self._counts):
            return math.inf
        return self._enclosed(lambda composition, digits: composition.epsilon(0, digits=digits)).upper_float

    def get_delta(self, target_epsilon: float) -> float:
        """The delta at epsilon, rounded up to a float."""
        if math.isnan(target_epsilon) or target_epsilon < 0:
            raise ValueError(f"target_epsilon = {target_epsilon}: expected 0 or more")
        if math.isinf(target_epsilon):
            return 1.0 if self._not_private else Enclosure(self._infinite(), self._infinite()).upper_float
        return self.delta(target_epsilon).upper_float
