// The library's GEMM against its shape and against the SMs or CUs left to it: by asking the library
// to plan for fewer, and by holding the others with WGs that do nothing.

#include <algorithm>

#include "buffers.h"
#include "data.h"
#include "flags.h"
#include "gemm_library.h"
#include "kernels.h"
#include "suite.h"

namespace calibration {
namespace {

struct Shape {
  int m;
  int n;
  int k;
};

// Holds an SM or CU, as it takes all of its shared memory, until `release` is set.
__global__ void hold_unit(unsigned* held, const Flag* release, unsigned run) {
  if (threadIdx.x == 0) {
    atomicAdd(held, 1U);
    wait_for_flag(release, run);
  }
  __syncthreads();
}

__global__ void wait_until_held(const unsigned* held, unsigned wgs) { wait_for_flag(held, wgs); }

__global__ void let_go(Flag* release, unsigned run) { set_flag(release, run); }

// `planned`: what the library is told, 0 for all; `held`: SMs or CUs that others hold.
std::vector<double> measure(const Bench& bench, const Shape& shape, int planned, int held) {
  const Machine& machine = bench.machine;
  const Buffers<bf16_bits> a(machine, elements(shape.m, shape.k), Reach::local);
  const Buffers<bf16_bits> b(machine, elements(shape.n, shape.k), Reach::local);
  const Buffers<bf16_bits> c(machine, elements(shape.m, shape.n), Reach::local);
  const Buffers<unsigned> count(machine, 1, Reach::local);
  const Buffers<Flag> release(machine, 1, Reach::local);
  std::vector<std::unique_ptr<GemmLibrary>> libraries;
  Grid holders{.wgs = held};
  for (int g = 0; g < machine.size(); ++g) {
    const Gpu& gpu = machine.gpu(g);
    libraries.push_back(make_gemm_library(gpu, planned));
    fill_test_bf16(gpu, a[g], a.count(), 1);
    fill_test_bf16(gpu, b[g], b.count(), 2);
    holders.shared_bytes = shared_for_occupancy(gpu, 1);
    prepare_kernel(gpu, hold_unit, holders);
  }
  release.fill_bytes(0);
  const auto multiply = [&](int g) {
    libraries[static_cast<std::size_t>(g)]->launch({shape.m, shape.n, shape.k, a[g], b[g], c[g]},
                                                   machine.gpu(g).main);
  };
  // A first time alone: a library that sets itself up may wait for the GPU, and thus for WGs that
  // hold units until the library's launch has returned.
  for (int g = 0; g < machine.size(); ++g) {
    multiply(g);
  }
  const auto hold = [&](int g, unsigned run) {
    const Gpu& gpu = machine.gpu(g);
    machine.fork(g, gpu.beside);
    launch(hold_unit, holders, gpu.beside, count[g], release[g], run);
    launch(wait_until_held, {.wgs = 1, .threads = 1}, gpu.main, count[g],
           static_cast<unsigned>(held));
    check(hipEventRecord(gpu.start, gpu.main));  // the time starts anew
  };
  return bench.timer.behind_gate({.queue =
                                      [&](unsigned run) {
                                        for (int g = 0; g < machine.size(); ++g) {
                                          machine.gpu(g).use();
                                          if (held != 0) {
                                            hold(g, run);
                                          }
                                          multiply(g);
                                        }
                                      },
                                  .prepare = [&] { count.fill_bytes(0); },
                                  .finish =
                                      [&](unsigned run) {
                                        for (int g = 0; g < machine.size(); ++g) {
                                          machine.gpu(g).use();
                                          launch(let_go, {.wgs = 1, .threads = 1},
                                                 machine.gpu(g).main, release[g], run);
                                        }
                                      }});
}

void add(const Plan& plan, const Shape& usual, int planned, int held, Depth depth, Cases& cases) {
  const Shape shape{plan.at_most(usual.m, 128), plan.at_most(usual.n, 128),
                    plan.at_most(usual.k, 128)};
  JsonLine line = line_of("micro.gemm_library", plan);
  line.set("m", shape.m).set("n", shape.n).set("k", shape.k);
  if (planned != 0) {
    line.set("units_planned", planned);
  }
  if (held != 0) {
    line.set("units_held", held);
  }
  cases.push_back(
      {line, depth, [=](const Bench& bench) { return measure(bench, shape, planned, held); }});
}

}  // namespace

void add_library_gemm(const Plan& plan, Cases& cases) {
  for (const Shape& shape :
       {Shape{1024, 1024, 1024}, Shape{2048, 2048, 2048}, Shape{2048, 4096, 4096},
        Shape{4096, 1024, 4096}, Shape{4096, 4096, 4096}, Shape{4096, 8192, 8192},
        Shape{8192, 8192, 8192}, Shape{16384, 8192, 8192}, Shape{8192, 1024, 1024},
        Shape{8192, 4096, 1024}, Shape{4096, 4096, 14336}, Shape{8192, 28672, 4096},
        Shape{128, 8192, 8192}, Shape{512, 8192, 8192}}) {
    add(plan, shape, 0, 0, Depth::quick, cases);
  }
  const Shape shape{8192, 8192, 8192};
  for (const int away : {4, 8, 16, 24, 32, 48, 64}) {
    if (away < plan.units) {
      add(plan, shape, plan.units - away, 0, Depth::full, cases);
      add(plan, shape, 0, away, Depth::full, cases);
      add(plan, shape, plan.units - away, away, Depth::full, cases);
    }
  }
}

}  // namespace calibration
