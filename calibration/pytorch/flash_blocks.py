"""FlashAttention-2's prompts at lengths that do and do not fill its blocks, with few and with many
work-groups for each CU: what a block takes alone, beside another one, and under a mask."""
from torch.nn.attention import sdpa_kernel

from attention import BACKENDS, forward_calls

LENGTHS = (128, 192, 256, 320, 384, 448, 512, 576, 640, 704, 768, 896, 1000, 1024, 1088, 1280, 1536,
           1600, 2048, 2112, 4096, 4160)
WGS = (132, 180, 264, 400, 1320, 2640)
ROWS = 128                 # of a block of queries
SPLIT_BELOW = 212          # blocks of 64 queries: fewer have their keys split


def shapes():
    for dim in (64, 128):
        for causal in (False, True):
            for length in LENGTHS:
                for wgs in WGS:
                    heads = -(-wgs // -(-length // ROWS))
                    if heads * -(-length // 64) < SPLIT_BELOW:
                        continue
                    yield {"batch": 1, "heads": heads, "kv_heads": heads, "queries": length,
                           "keys": length, "head_dim": dim, "causal": causal}


def measure(bench):
    drawn = list(shapes())
    with sdpa_kernel(BACKENDS["flash"]):
        for shape in drawn[::40] if bench.quick else drawn:
            bench.run("attention", {**shape, "backend": "flash", "pass": "forward"},
                      lambda: forward_calls(bench, shape), profile=False)
