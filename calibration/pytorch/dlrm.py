"""A step of a recommendation model: its tables divided among the GPUs, its dense layers copied.

Each GPU looks up its tables for the samples of all, and all exchange the pooled rows (as Naumov et
al., "Deep Learning Recommendation Model for Personalization and Recommendation Systems", 2019, do
it). Tables have sparse gradients and SGD; dense layers are summed by DistributedDataParallel.
"""
import torch
import torch.distributed as dist
import torch.nn.functional as F

WIDTH = 128  # of a row
DENSE = 13


class ToOwners(torch.autograd.Function):
    """(samples of all, own tables, width) to (own samples, tables of all, width), and back."""

    @staticmethod
    def forward(ctx, pooled):
        ranks = dist.get_world_size()
        out = torch.empty_like(pooled)
        dist.all_to_all_single(out, pooled.contiguous())
        samples, tables, width = pooled.shape
        ctx.shape = ranks, samples // ranks, tables, width
        return out.view(ctx.shape).transpose(0, 1).reshape(samples // ranks, ranks * tables, width)

    @staticmethod
    def backward(ctx, gradient):
        ranks, samples, tables, width = ctx.shape
        sent = gradient.view(samples, ranks, tables, width).transpose(0, 1).contiguous()
        out = torch.empty_like(sent)
        dist.all_to_all_single(out, sent)
        return out.view(ranks * samples, tables, width)


def perceptron(*widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inputs, outputs, device="cuda"), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


class Dense(torch.nn.Module):
    def __init__(self, tables):
        super().__init__()
        self.bottom = perceptron(DENSE, 512, 256, WIDTH)
        self.top = perceptron(WIDTH + (tables + 1) * tables // 2, 1024, 1024, 512, 256, 1)
        self.register_buffer("pairs", torch.tril_indices(tables + 1, tables + 1, -1, device="cuda"),
                             persistent=False)

    def forward(self, dense, rows):
        mixed = self.bottom(dense)
        features = torch.cat([mixed.unsqueeze(1), rows], 1)
        products = torch.bmm(features, features.transpose(1, 2))
        return self.top(torch.cat([mixed, products[:, self.pairs[0], self.pairs[1]]], 1))


class Dlrm(torch.nn.Module):
    """`tables` of `rows` rows on each GPU."""

    def __init__(self, tables, rows, bucket_mib):
        super().__init__()
        from torch.nn.parallel import DistributedDataParallel
        self.tables = torch.nn.ModuleList([
            torch.nn.EmbeddingBag(rows, WIDTH, mode="sum", sparse=True, device="cuda")
            for _ in range(tables)])
        self.dense = DistributedDataParallel(Dense(tables * dist.get_world_size()),
                                             bucket_cap_mb=bucket_mib, gradient_as_bucket_view=True,
                                             broadcast_buffers=False)

    def forward(self, dense, indices):
        pooled = torch.stack([table(bag) for table, bag in zip(self.tables, indices)], 1)
        return self.dense(dense, ToOwners.apply(pooled))


def step_of(tables, rows, samples, pooling, bucket_mib):
    """A step with so many samples a GPU, each of `pooling` rows of a table."""
    model = Dlrm(tables, rows, bucket_mib)
    ranks = dist.get_world_size()
    indices = [torch.randint(rows, (samples * ranks, pooling), device="cuda")
               for _ in range(tables)]
    dense = torch.randn(samples, DENSE, device="cuda")
    clicked = torch.randint(2, (samples, 1), device="cuda").float()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step():
        F.binary_cross_entropy_with_logits(model(dense, indices), clicked).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step
