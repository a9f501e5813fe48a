"""The shapes that are measured, on two ranks. No torch: tests look at them too."""

# hidden size, width of the feed-forward network, query heads and heads of keys, of 128 each
MODELS = {
    "llama-8b": (4096, 14336, 32, 8),
    "llama-70b": (8192, 28672, 64, 8),
    "llama-405b": (16384, 53248, 128, 8),
    "mixtral-8x22b": (6144, 16384, 48, 8),
}
TOKENS = (512, 1024, 4096, 8192)


def tensor_parallel(ranks):
    """Of a layer: what each rank multiplies before a reduce-scatter, and after an all-gather."""
    for model, (hidden, ffn, heads, kv_heads) in MODELS.items():
        for tokens in TOKENS:
            for part, k in (("attention", heads * 128 // ranks), ("ffn", ffn // ranks)):
                yield {"model": model, "part": part, "m": tokens, "n": hidden, "k": k}


def gemm_rs(ranks):
    return list(tensor_parallel(ranks))


def few_columns(_):
    """All-gathers with so little to multiply that sending takes longest."""
    return [{"m": m, "n": n, "k": k} for m in (512, 1024, 2048, 4096, 8192)
            for k in (1024, 4096, 8192) for n in (256, 1536)]


def ag_gemm(ranks):
    found = []
    for model, (hidden, ffn, heads, kv_heads) in MODELS.items():
        for tokens in TOKENS:
            for part, n in (("attention", (heads + 2 * kv_heads) * 128 // ranks),
                            ("ffn", 2 * ffn // ranks)):
                found.append({"model": model, "part": part, "m": tokens, "n": n, "k": hidden})
    return found


def gemm(ranks):
    """An expert's second matrix: its rows go back to the ranks that the tokens are of."""
    experts = {"mixtral-8x7b": (4096, 14336), "mixtral-8x22b": (6144, 16384),
               "deepseek-v3": (7168, 2048), "qwen3-30b": (2048, 768),
               "llama4-scout": (5120, 8192)}
    return [{"model": model, "m": m, "n": n, "k": k} for model, (n, k) in experts.items()
            for m in (512, 1024, 2048, 4096, 8192, 16384)]


def gemv(ranks):
    """One token: the same matrices as of gemm_rs, those of other sizes of Llama and of GPT-3, and
    this harness's."""
    sizes = [(hidden, k // ranks) for hidden, ffn, heads, _ in MODELS.values()
             for k in (heads * 128, ffn)]
    sizes += [(5120, 2560), (5120, 6912), (6656, 3328), (6656, 8960), (12288, 6144),
              (12288, 24576), (3072, 1536), (3072, 4096), (2048, 1024), (2048, 4096),
              (7168, 8192), (7168, 9216), (4096, 4096), (8192, 8192), (16384, 1024),
              (32768, 4096), (8192, 1024), (16384, 4096)]
    return [{"m": m, "k": k} for m, k in sizes]


def emb(ranks):
    usual = {"batch": 2048, "tables": 32, "dim": 256, "pooling": 32, "rows_per_table": 20000}
    changes = [{}, {"batch": 512, "tables": 16}, {"tables": 64}, {"batch": 4096, "tables": 16},
               {"pooling": 1}, {"pooling": 4}, {"pooling": 16}, {"pooling": 64},
               {"pooling": 128}, {"dim": 64}, {"dim": 128}, {"batch": 1024},
               {"rows_per_table": 500000}, {"dim": 128, "batch": 4096}, {"dim": 64, "batch": 8192},
               {"dim": 128, "pooling": 8}, {"dim": 128, "pooling": 80, "rows_per_table": 100000},
               {"tables": 8, "dim": 64, "pooling": 100, "rows_per_table": 1000000},
               {"tables": 64, "dim": 128, "pooling": 100, "rows_per_table": 14000},
               {"tables": 16, "dim": 128, "pooling": 20, "batch": 8192},
               {"tables": 8, "dim": 128, "pooling": 2, "batch": 16384},
               {"tables": 4, "pooling": 32, "batch": 1024},
               {"tables": 64, "dim": 64, "pooling": 10, "batch": 1024},
               {"batch": 256}, {"tables": 128, "dim": 64, "pooling": 20},
               {"tables": 26, "dim": 128, "pooling": 1, "batch": 8192, "rows_per_table": 100000}]
    return [{**usual, **change} for change in changes]


OPERATORS = {"emb": emb, "gemv": gemv, "gemm": gemm, "gemm_rs": gemm_rs, "ag_gemm": ag_gemm}
