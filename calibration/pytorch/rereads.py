"""A matrix that every call reads once: how much of it the L2 still has in the next call."""
import torch

MIB = 1 << 20
COLUMNS = 2048


def measure(bench):
    for mib in (16, 64) if bench.quick else range(8, 100, 2):
        if bench.late():
            return
        matrix = bench.operand(mib * MIB // 2 // COLUMNS, COLUMNS)
        vector = bench.operand(COLUMNS, 1).view(-1)
        bench.run("reread", {"bytes": mib * MIB}, lambda: [lambda: torch.mv(matrix, vector)],
                  warm=True, profile=False)
