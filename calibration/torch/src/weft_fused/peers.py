"""Memory that a process group's ranks store into, and the flags that say that it is there.

Peers store into a rank's buffer as soon as their run begins, with no barrier before it. Two halves
of a buffer taken in turn make that safe: a peer can only be in run i + 1 after it saw this rank's
flags of run i, and this rank sets those after everything queued before run i, which is all that
reads the half of run i - 1. So each operator ends only when flags of all ranks have come.
"""
import torch
import torch.distributed as dist

ALIGNMENT = 256
COUNTERS = 1 << 16     # of a rank, 4 bytes each: the most tiles or rows that are counted
FLAGS = 1 << 20        # of a rank: the most tiles that have a flag


def process_group(name):
    return dist.distributed_c10d._resolve_process_group(name)


def ranks_of(name):
    return process_group(name).size()


class Symmetric:
    """Bytes of which each rank of the group has as many, and where they are."""

    def __init__(self, size, group, device):
        import torch.distributed._symmetric_memory as symmetric
        self.bytes = symmetric.empty(size, dtype=torch.uint8, device=device)
        self.handle = symmetric.rendezvous(self.bytes, group)
        self.pointers = list(self.handle.buffer_ptrs)
        if self.pointers[self.handle.rank] != self.bytes.data_ptr():
            raise RuntimeError("a symmetric tensor does not begin where its memory does")


class Run:
    """One run of an operator: its number, and pointers of this and all other ranks."""

    def __init__(self, peers, number, buffer, at):
        self.me, self.count, self.number = peers.me, peers.count, number
        self.buffer, self.at, self.half = buffer, at, buffer.bytes[at:]
        self.data = [p + at for p in buffer.pointers]
        self.peers, self.flags, self.counters = peers, peers.flags.pointers, peers.counters

    def view(self, shape, dtype):
        """This rank's half as a tensor, which the run after the next one overwrites."""
        size = dtype.itemsize
        for length in shape:
            size *= length
        return self.half[:size].view(dtype).view(shape)

    def data_of(self, rank, shape, dtype):
        """Another rank's half as a tensor, for copy engines."""
        return self.buffer.handle.get_buffer(rank, shape, dtype, self.at // dtype.itemsize)

    def flags_of(self, rank):
        return self.peers.flags.handle.get_buffer(rank, (FLAGS,), torch.uint32)


class Peers:
    def __init__(self, name):
        self.group = process_group(name)
        self.me, self.count = self.group.rank(), self.group.size()
        self.device = torch.device("cuda", torch.cuda.current_device())
        self.buffers = {}
        self.outputs = {}
        self.number = 0
        self.flags = self.shared(4 * FLAGS)
        self.counters = torch.zeros(COUNTERS, dtype=torch.int32, device=self.device)

    def shared(self, size):
        """Zero on all ranks before any of them goes on."""
        made = Symmetric(size, self.group, self.device)
        made.bytes.zero_()
        torch.cuda.synchronize()
        dist.barrier(self.group, device_ids=[self.device.index])
        torch.cuda.synchronize()
        return made

    def run(self, name, size):
        """Begins a run with `size` bytes, a half of the buffer of that name."""
        size = -(-size // ALIGNMENT) * ALIGNMENT
        buffer = self.buffers.get(name)
        if buffer is None or buffer.bytes.numel() < 2 * size:
            torch.cuda.synchronize()  # nothing uses the old one
            self.buffers[name] = buffer = self.shared(2 * size)
        self.number += 1
        at = self.number % 2 * (buffer.bytes.numel() // 2)
        return Run(self, self.number, buffer, at)

    def output(self, out):
        made = self.outputs.get(out.data_ptr())
        if made is None:
            raise ValueError("`out` has to come from weft_fused.empty: peers store into it")
        return made

    def run_into(self, out):
        """Begins a run whose results are stored into `out` of all ranks, of `empty`."""
        made = self.output(out)
        self.number += 1
        return Run(self, self.number, made, 0)

    def empty(self, shape, dtype):
        size = dtype.itemsize
        for length in shape:
            size *= length
        made = self.shared(-(-size // ALIGNMENT) * ALIGNMENT)
        out = made.bytes[:size].view(dtype).view(shape)
        self.outputs[out.data_ptr()] = made
        return out


_peers = {}


def peers_of(name):
    """The group's, made at its first use: then all ranks have to call."""
    if name not in _peers:
        _peers[name] = Peers(name)
    return _peers[name]


def empty(shape, dtype, group):
    """Memory for an operator's `out`: peers store into it while it is written, so a caller that
    does not wait between runs takes two in turn. All ranks have to call."""
    return peers_of(group).empty(tuple(shape), dtype)
