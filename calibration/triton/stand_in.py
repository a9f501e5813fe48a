"""A stand-in for Triton where neither it nor a GPU is there: kernels run as Python, on numpy.

Only what this folder's kernels use. Memory is one array of bytes for all ranks, and each program is
a thread, so that flags and waits do what they do on GPUs. Nothing is compiled: what Triton's
compiler refuses is not found here. bf16 is kept as float32.
"""
import sys
import threading
import time
import types

import numpy as np

_memory = np.zeros(1 << 24, dtype=np.uint8)
_used = 256
_lock = threading.RLock()
_here = threading.local()


class Value(np.ndarray):
    """What a program computes with: arrays with Triton's names."""

    def to(self, dtype):
        if isinstance(dtype, PointerType):
            return Pointer(np.asarray(self, dtype=np.int64), dtype.element)
        return as_value(np.asarray(self).astype(dtype))


def as_value(x):
    return np.asarray(x).view(Value)


class PointerType:
    def __init__(self, element):
        self.element = np.dtype(element)


class Pointer:
    def __init__(self, address, element):
        self.address, self.element = np.asarray(address, dtype=np.int64), np.dtype(element)

    def __add__(self, count):
        return Pointer(self.address + np.asarray(count, dtype=np.int64) * self.element.itemsize,
                       self.element)

    def places(self):
        if (self.address < 256).any() or (self.address >= _memory.size).any():
            raise IndexError("a kernel went outside its memory")
        return self.address // self.element.itemsize


class Matrix:
    """A tensor descriptor."""

    def __init__(self, pointer, columns, block):
        self.pointer, self.columns, self.block = pointer, columns, block

    def load(self, at):
        rows = int(at[0]) + np.arange(self.block[0])
        return load(self.pointer + (rows[:, None] * self.columns + int(at[1])
                                    + np.arange(self.block[1])[None, :]))


def allocate(array, element=None):
    """A copy of `array` in the memory: its pointer, and a view of it."""
    global _used
    array = np.ascontiguousarray(array, dtype=element)
    begin, _used = _used, -(-(_used + array.nbytes) // 256) * 256
    view = _memory[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return Pointer(begin, array.dtype), view


def reset():
    global _used
    _used = 256
    _memory[:] = 0


def load(pointer, mask=None, other=0.0):
    words = _memory.view(pointer.element)
    if mask is None:
        return as_value(words[pointer.places()])
    wanted = np.broadcast_to(np.asarray(mask), pointer.address.shape)
    safe = Pointer(np.where(wanted, pointer.address, 256), pointer.element)
    return as_value(np.where(wanted, words[safe.places()], other).astype(pointer.element))


def store(pointer, value, mask=None):
    places, values = np.broadcast_arrays(pointer.places(), np.asarray(value))
    if mask is not None:
        wanted = np.broadcast_to(np.asarray(mask), places.shape)
        places, values = places[wanted], values[wanted]
    _memory.view(pointer.element)[places] = values


def atomic(change):
    def run(pointer, value, sem="acq_rel", scope="gpu"):
        if sem not in ("relaxed", "acquire", "release", "acq_rel") or scope not in ("gpu", "sys"):
            raise ValueError(f"no such order: {sem}, {scope}")
        with _lock:
            old = load(pointer).copy()
            store(pointer, change(old, value))
        if _here.over.is_set():
            raise RuntimeError("another program failed")
        time.sleep(0)
        return old
    return run


class Kernel:
    def __init__(self, function):
        self.function = function

    def __call__(self, *arguments, **named):
        return self.function(*arguments, **named)


def jit(function=None, **_):
    return Kernel(function) if function is not None else Kernel


def run_ranks(kernel, programs, arguments):
    """The kernel on all ranks at once: `arguments` of each, `programs` threads each."""
    failed, over = [], threading.Event()

    def run(program, of_rank):
        _here.program, _here.programs, _here.over = program, programs, over
        try:
            kernel(**of_rank)
        except Exception as problem:
            failed.append(problem)
            over.set()
    threads = [threading.Thread(target=run, args=(p, a)) for a in arguments
               for p in range(programs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def install():
    """As `triton` and `triton.language`, for modules imported from now on."""
    language = types.ModuleType("triton.language")
    language.__dict__.update(
        constexpr=object, int32=np.int32, int64=np.int64, float32=np.float32,
        bfloat16=np.float32, pointer_type=PointerType, load=load, store=store,
        atomic_add=atomic(lambda old, value: old + value),
        atomic_xchg=atomic(lambda old, value: value),
        arange=lambda a, b: as_value(np.arange(a, b, dtype=np.int32)),
        zeros=lambda shape, dtype: as_value(np.zeros(shape, dtype=dtype)),
        dot=lambda a, b, acc: as_value(acc + np.asarray(a) @ np.asarray(b)),
        sum=lambda x, axis: as_value(np.asarray(x).sum(axis=axis)),
        range=lambda *of, **_: range(*map(int, of)), minimum=np.minimum,
        maximum=np.maximum,
        multiple_of=lambda x, _: x, debug_barrier=lambda: None,
        program_id=lambda _: as_value(np.int32(_here.program)),
        num_programs=lambda _: as_value(np.int32(_here.programs)),
        inline_asm_elementwise=lambda *_, **__: None)
    module = types.ModuleType("triton")
    module.jit, module.language = jit, language
    sys.modules["triton"], sys.modules["triton.language"] = module, language
