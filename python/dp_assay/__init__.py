"""Certified privacy accounting for counts published with integer noise (discrete Gaussian or Laplace).

Every certified number is an Enclosure: lower <= truth <= upper. Inputs are exact: int, str ("1e-11", "104/4099"), Fraction
and Decimal as they are; a float is taken as the shortest decimal that prints it, so that 0.1 is one tenth. Input that the library refuses
raises ValueError with the reason; input that is no number raises TypeError.

    >>> from dp_assay import DiscreteGaussian
    >>> DiscreteGaussian("5", count=10).epsilon("1e-11").shown()
    '10.1248309345'
"""

from ._counts import MetadataWarning
from ._frames import add_noise, verify
from ._native import (
    VERSION as __version__,
)
from ._native import (
    Account,
    Approximate,
    BoundedRange,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    Enclosure,
    Gaussian,
    IntegerNoise,
    Laplace,
    Ledger,
    NoiseTable,
    Pair,
    PerturbationTable,
    Pure,
    RandomRounding,
    RandomizedResponse,
    Release,
    SampledGaussian,
    Staircase,
    TruncatedGaussian,
    TruncatedLaplace,
    UnknownKey,
    allocate,
    find_number,
    releases,
    zcdp_delta,
    zcdp_epsilon,
)
from ._order import OrderWarning
from ._training import dp_sgd

__all__ = [
    "Account",
    "Approximate",
    "BoundedRange",
    "Composition",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Enclosure",
    "Gaussian",
    "IntegerNoise",
    "Laplace",
    "Ledger",
    "MetadataWarning",
    "NoiseTable",
    "OrderWarning",
    "Pair",
    "PerturbationTable",
    "Pure",
    "RandomRounding",
    "RandomizedResponse",
    "Release",
    "SampledGaussian",
    "Staircase",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "UnknownKey",
    "__version__",
    "add_noise",
    "allocate",
    "dp_sgd",
    "find_number",
    "releases",
    "verify",
    "zcdp_delta",
    "zcdp_epsilon",
]
