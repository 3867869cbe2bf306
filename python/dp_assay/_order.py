"""Rows in the order of their true counts, which noise does not change, and names of keys that no row has any more."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

# Two counts have an order in any case.
FEWEST = 3


class OrderWarning(UserWarning):
    """Counts were in the order of their sizes and their keys were not: the rows of the noisy counts keep that order, which has no noise."""


def warn_of_order(where: str, counts: Any, keys: Sequence[Iterable[Any]]) -> None:
    """Warns of counts that rise or fall from row to row where the keys do neither. keys: the columns of keys, none if there are no keys."""
    values = [int(count) for count in counts]
    if len(values) < FEWEST or not keys or len(set(values)) == 1 or not _is_in_order(values):
        return
    rows = list(zip(*keys, strict=False))
    try:
        has_order = _is_in_order(rows)
    except (TypeError, ValueError):  # keys of several types, or without an order
        has_order = _is_in_order([tuple(map(str, row)) for row in rows])
    if not has_order:
        warnings.warn(
            f"{where} in the order of the true counts, which the noisy ones keep: who sees the rows learns this order without noise. Sort by "
            "the keys before noise is added, as by .sort_index() or .sort_values(key), or by .reindex(all keys)",
            OrderWarning,
            stacklevel=4,
        )


def _is_in_order(values: list[Any]) -> bool:
    pairs = list(zip(values, values[1:], strict=False))
    return all(one <= other for one, other in pairs) or all(one >= other for one, other in pairs)
