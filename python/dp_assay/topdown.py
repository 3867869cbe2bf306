"""The mechanism on a spine: exact noise with its privacy account, and estimates from the noisy counts.

The program's `assay spine` builds the folder of a spine. The guide's chapter on spines and TopDown explains the files.

    >>> from dp_assay import topdown
    >>> drawn = topdown.measure("spine", "counts.csv", "release.toml", "noisy")           # doctest: +SKIP
    >>> drawn["epsilon"], drawn["draw"]                                                   # doctest: +SKIP
    >>> topdown.estimate("spine", "noisy", "release.toml", "estimates", queries="all")    # doctest: +SKIP
"""

from ._native import estimate, measure

__all__ = ["estimate", "measure"]
