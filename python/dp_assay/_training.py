"""Training runs with DP-SGD: one phase, or a schedule of many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._native import Account, Composition, SampledGaussian

_NAMES = ("noise_multiplier", "sample_rate", "steps", "batch_size", "records", "epochs")


def dp_sgd(
    noise_multiplier: Any,
    sample_rate: Any = None,
    steps: Any = None,
    *,
    batch_size: Any = None,
    records: Any = None,
    epochs: Any = None,
) -> Account:
    """The account of a training run: Gaussian noise of noise_multiplier clipping norms on a fresh, secret Poisson sample in every step.

    sample_rate, or batch_size of all records on average, the rate of which is their ratio (a data loader of Opacus draws with one over its number of batches);
    steps, or epochs, each a loop over all batches. Any of them may be a list or an array of equal lengths: the phases of a
    schedule, of which equal ones in a row are one. ValueError for lists of other lengths, rates outside of (0, 1], and batches larger than the data.

        >>> dp_sgd(1, sample_rate=0.01, steps=1000).epsilon("1e-5").shown(8)
        '1.8282367'
        >>> dp_sgd([2, 1], sample_rate=[0.02, 0.01], steps=[100, 1000]).epsilon("1e-5").shown(6)
        '1.91586'
    """
    given = dict(zip(_NAMES, (noise_multiplier, sample_rate, steps, batch_size, records, epochs)))
    columns = {name: _listed(value) for name, value in given.items() if value is not None}
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        raise ValueError("phases: " + ", ".join(f"{length} of {name}" for name, length in lengths.items()) + ": expected lists of one length")
    phases = next(iter(lengths.values()), 1)
    if phases == 0:
        raise ValueError("phases: there is none: expected at least one")
    rows = [{name: given[name] if column is None else column[at] for name, column in columns.items()} for at in range(phases)]
    runs = [SampledGaussian.from_noise_multiplier(row.pop("noise_multiplier"), **row) for row in rows]
    return runs[0] if len(runs) == 1 else Composition(runs)


def _listed(value: Any) -> list[Any] | None:
    """The phases of a list or an array of one dimension; None for one number, which is that of all phases."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        return None
    return value.tolist() if hasattr(value, "tolist") else list(value)
