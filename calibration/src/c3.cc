// C3: a GEMM of the library concurrent with a collective, on the SMs or CUs or on copy engines.

#include "buffers.h"
#include "collectives.h"
#include "data.h"
#include "gemm_library.h"
#include "suite.h"

namespace calibration {
namespace {

struct Shape {
  int m;
  int n;
  int k;
  std::size_t bytes;  // as Exchange counts them
  Collective collective;
};

class Concurrent {
 public:
  Concurrent(const Bench& bench, const Shape& shape);

  std::vector<double> gemm_alone();
  std::vector<double> collective_alone(int channels);
  std::vector<double> copies_alone();
  std::vector<double> serial();
  // Two streams, the GEMM's first.
  std::vector<double> beside(hipStream_t Gpu::*stream);
  // The collective has the priority and its WGs are placed before the GEMM's.
  std::vector<double> collective_first(int channels);
  std::vector<double> beside_copies();

 private:
  void queue_gemm();
  void queue_collective(Communicator& communicator, hipStream_t Gpu::*stream);
  void join(hipStream_t Gpu::*stream);
  // One peer after another, the next one's first; and the own part beside them, on a stream of its
  // own. Both streams start when `main` starts.
  void queue_copies();
  void join_copies();
  std::size_t part() const { return shape_.bytes / static_cast<std::size_t>(machine_.size()); }
  void expect_copies_as_collective();

  const Bench& bench_;
  const Machine& machine_;
  Shape shape_;
  Buffers<bf16_bits> a_;
  Buffers<bf16_bits> b_;
  Buffers<bf16_bits> c_;
  Buffers<char> from_;
  Buffers<char> to_;
  std::vector<std::unique_ptr<GemmLibrary>> gemms_;
};

Concurrent::Concurrent(const Bench& bench, const Shape& shape)
    : bench_(bench),
      machine_(bench.machine),
      shape_(shape),
      a_(machine_, elements(shape.m, shape.k), Reach::local),
      b_(machine_, elements(shape.n, shape.k), Reach::local),
      c_(machine_, elements(shape.m, shape.n), Reach::local),
      from_(machine_, shape.bytes, Reach::local),
      to_(machine_, shape.bytes, Reach::local) {
  for (int g = 0; g < machine_.size(); ++g) {
    const Gpu& gpu = machine_.gpu(g);
    gemms_.push_back(make_gemm_library(gpu, 0));
    fill_test_bf16(gpu, a_[g], a_.count(), 1);
    fill_test_bf16(gpu, b_[g], b_.count(), 2);
    fill_test_data(gpu, reinterpret_cast<float*>(from_[g]), shape.bytes / 4,
                   static_cast<std::uint32_t>(3 + g));
  }
  machine_.synchronize();
}

void Concurrent::queue_gemm() {
  for (int g = 0; g < machine_.size(); ++g) {
    gemms_[static_cast<std::size_t>(g)]->launch({shape_.m, shape_.n, shape_.k, a_[g], b_[g], c_[g]},
                                                machine_.gpu(g).main);
  }
}

void Concurrent::queue_collective(Communicator& communicator, hipStream_t Gpu::*stream) {
  communicator.launch({.what = shape_.collective,
                       .element = Element::float32,
                       .bytes = shape_.bytes,
                       .from = [&](int g) { return from_[g]; },
                       .to = [&](int g) { return to_[g]; }},
                      machine_.streams(stream));
}

void Concurrent::join(hipStream_t Gpu::*stream) {
  for (int g = 0; g < machine_.size(); ++g) {
    machine_.join(g, machine_.gpu(g).*stream, 0);
  }
}

void Concurrent::queue_copies() {
  for (int g = 0; g < machine_.size(); ++g) {
    for (int step = 1; step <= machine_.size(); ++step) {
      const int peer = (g + step) % machine_.size();
      const bool own = peer == g;
      const hipStream_t stream = machine_.gpu(g).copies[own ? 1 : 0];
      const std::size_t offset =
          shape_.collective == Collective::all_gather ? 0 : part() * static_cast<std::size_t>(peer);
      if (own || step == 1) {
        machine_.fork(g, stream);
      }
      check(hipMemcpyAsync(to_[peer] + part() * static_cast<std::size_t>(g), from_[g] + offset,
                           part(), hipMemcpyDeviceToDevice, stream));
    }
  }
}

void Concurrent::join_copies() {
  for (int g = 0; g < machine_.size(); ++g) {
    for (const int stream : {0, 1}) {
      machine_.join(g, machine_.gpu(g).copies[static_cast<std::size_t>(stream)], stream);
    }
  }
}

std::vector<double> Concurrent::gemm_alone() {
  return bench_.timer.behind_gate({.queue = [&](unsigned) { queue_gemm(); }});
}

std::vector<double> Concurrent::collective_alone(int channels) {
  Communicator& communicator = bench_.communicators.with_channels(channels);
  return bench_.timer.behind_gate(
      {.queue = [&](unsigned) { queue_collective(communicator, &Gpu::main); }});
}

std::vector<double> Concurrent::serial() {
  Communicator& communicator = bench_.communicators.with_channels(0);
  return bench_.timer.behind_gate({.queue = [&](unsigned) {
    queue_gemm();
    queue_collective(communicator, &Gpu::main);
  }});
}

std::vector<double> Concurrent::beside(hipStream_t Gpu::*stream) {
  Communicator& communicator = bench_.communicators.with_channels(0);
  return bench_.timer.behind_gate({.queue =
                                       [&, stream](unsigned) {
                                         queue_gemm();
                                         queue_collective(communicator, stream);
                                         join(stream);
                                       },
                                   .gated = {stream}});
}

std::vector<double> Concurrent::collective_first(int channels) {
  Communicator& communicator = bench_.communicators.with_channels(channels);
  return bench_.timer.behind_gate({.queue =
                                       [&](unsigned) {
                                         join(&Gpu::urgent);  // past the gate
                                         queue_collective(communicator, &Gpu::urgent);
                                         queue_gemm();
                                         join(&Gpu::urgent);
                                       },
                                   .gated = {&Gpu::urgent}});
}

// What the library's collective leaves is what the copies have to leave.
void Concurrent::expect_copies_as_collective() {
  const Buffers<char> expected(machine_, shape_.bytes, Reach::local);
  bench_.communicators.with_channels(0).launch({.what = shape_.collective,
                                                .element = Element::float32,
                                                .bytes = shape_.bytes,
                                                .from = [&](int g) { return from_[g]; },
                                                .to = [&](int g) { return expected[g]; }},
                                               machine_.streams(&Gpu::main));
  machine_.synchronize();
  for (int g = 0; g < machine_.size(); ++g) {
    expect_equal(machine_.gpu(g), reinterpret_cast<const float*>(to_[g]),
                 reinterpret_cast<const float*>(expected[g]), shape_.bytes / 4, 0,
                 "collective by copy engines");
  }
}

std::vector<double> Concurrent::copies_alone() {
  to_.fill_bytes(0xFF);
  std::vector<double> samples = bench_.timer.behind_gate({.queue = [&](unsigned) {
    queue_copies();
    join_copies();
  }});
  expect_copies_as_collective();
  return samples;
}

std::vector<double> Concurrent::beside_copies() {
  to_.fill_bytes(0xFF);
  std::vector<double> samples = bench_.timer.behind_gate({.queue = [&](unsigned) {
    queue_gemm();
    queue_copies();
    join_copies();
  }});
  expect_copies_as_collective();
  return samples;
}

const char* name_of(Collective collective) {
  switch (collective) {
    case Collective::all_to_all:
      return "alltoall";
    case Collective::all_reduce:
      return "allreduce";
    case Collective::all_gather:
      return "allgather";
    default:
      return "reducescatter";
  }
}

JsonLine line_for(const char* kind, const Plan& plan, const Shape& shape) {
  JsonLine line = line_of(kind, plan);
  line.set("m", shape.m)
      .set("n", shape.n)
      .set("k", shape.k)
      .set("bytes_per_gpu", static_cast<std::int64_t>(shape.bytes))
      .set("collective", std::string(name_of(shape.collective)));
  return line;
}

void add_shape(const Plan& plan, Shape shape, Depth depth, Cases& cases) {
  shape.m = plan.at_most(shape.m, 128);
  shape.n = plan.at_most(shape.n, 128);
  shape.k = plan.at_most(shape.k, 128);
  const auto add_line = [&](const JsonLine& line, auto run) {
    cases.push_back({line, depth, [=](const Bench& bench) {
                       Concurrent concurrent(bench, shape);
                       return run(concurrent);
                     }});
  };
  const auto add = [&](const char* kind, auto run) { add_line(line_for(kind, plan, shape), run); };
  const auto add_channels = [&](const char* kind, int channels, auto run) {
    add_line(line_for(kind, plan, shape).set("ctas", channels), run);
  };
  const bool copies_can =
      shape.collective == Collective::all_gather || shape.collective == Collective::all_to_all;
  add("c3.gemm_alone", [](Concurrent& c3) { return c3.gemm_alone(); });
  add("c3.comm_alone", [](Concurrent& c3) { return c3.collective_alone(0); });
  for (const int channels : {4, 8, 16}) {
    add_channels("c3.comm_alone_ctas", channels,
                 [=](Concurrent& c3) { return c3.collective_alone(channels); });
  }
  if (copies_can) {
    add("c3.ce_alone", [](Concurrent& c3) { return c3.copies_alone(); });
  }
  add("c3.serial", [](Concurrent& c3) { return c3.serial(); });
  add("c3.base", [](Concurrent& c3) { return c3.beside(&Gpu::beside); });
  add("c3.priority", [](Concurrent& c3) { return c3.beside(&Gpu::urgent); });
  add("c3.comm_first", [](Concurrent& c3) { return c3.collective_first(0); });
  for (const int channels : {4, 8, 16}) {
    add_channels("c3.partition", channels,
                 [=](Concurrent& c3) { return c3.collective_first(channels); });
  }
  if (copies_can) {
    add("c3.dma", [](Concurrent& c3) { return c3.beside_copies(); });
  }
}

}  // namespace

void add_concurrent(const Plan& plan, Cases& cases) {
  const std::size_t unit = 16 * static_cast<std::size_t>(plan.gpus);
  const auto mebibytes = [&](std::size_t count) {
    return ((plan.at_most(count, std::size_t{1}) << 20U) + unit - 1) / unit *
           unit;  // a size that the GPUs can share
  };
  add_shape(plan, {8192, 8192, 8192, mebibytes(256), Collective::all_gather}, Depth::full, cases);
  add_shape(plan, {16384, 8192, 8192, mebibytes(512), Collective::all_gather}, Depth::full, cases);
  add_shape(plan, {4096, 8192, 8192, mebibytes(64), Collective::all_to_all}, Depth::quick, cases);
  add_shape(plan, {8192, 8192, 8192, mebibytes(256), Collective::all_reduce}, Depth::full, cases);
  add_shape(plan, {8192, 8192, 8192, mebibytes(256), Collective::reduce_scatter}, Depth::full,
            cases);
}

}  // namespace calibration
