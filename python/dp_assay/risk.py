"""What an adversary learns from noisy counts (Kazan & Reiter 2023); the limit for any adversary is Account.risk."""

from ._native import Attack, HierarchicalAttack, posterior_at

__all__ = ["Attack", "HierarchicalAttack", "posterior_at"]
