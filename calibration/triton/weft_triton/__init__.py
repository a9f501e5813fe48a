"""Communication inside Triton kernels, and fused kernels that use it (README.md)."""
from .communication import (arrive, fence, flag_pointer, is_last, my_rank, peer_pointer, put,
                            put_signal, rank_count, signal, wait)

__all__ = ["arrive", "fence", "flag_pointer", "is_last", "my_rank", "peer_pointer", "put",
           "put_signal", "rank_count", "signal", "wait"]
