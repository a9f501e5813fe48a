// The library's collectives against size and against the number of its channels (WGs).

#include "buffers.h"
#include "collectives.h"
#include "data.h"
#include "suite.h"

namespace calibration {
namespace {

std::vector<double> measure(const Bench& bench, Collective what, std::size_t bytes, int channels) {
  const Machine& machine = bench.machine;
  Communicator& communicator = bench.communicators.with_channels(channels);
  const Buffers<char> from(machine, bytes, Reach::local);
  const Buffers<char> to(machine, bytes, Reach::local);
  for (int g = 0; g < machine.size(); ++g) {
    fill_test_data(machine.gpu(g), reinterpret_cast<float*>(from[g]), bytes / 4,
                   static_cast<std::uint32_t>(g));
  }
  const Exchange exchange{.what = what,
                          .element = Element::float32,
                          .bytes = bytes,
                          .from = [&](int g) { return from[g]; },
                          .to = [&](int g) { return to[g]; }};
  const std::vector<hipStream_t> streams = machine.streams(&Gpu::main);
  return bench.timer.behind_gate(
      {.queue = [&](unsigned) { communicator.launch(exchange, streams); }});
}

void add(const Plan& plan, const char* kind, Collective what, std::size_t bytes, int channels,
         Depth depth, Cases& cases) {
  const auto unit = 16 * static_cast<std::size_t>(plan.gpus);  // words of 16 bytes, shared evenly
  bytes = (plan.at_most(bytes, std::size_t{65536}) + unit - 1) / unit * unit;
  JsonLine line = line_of(kind, plan);
  line.set("bytes_per_gpu", static_cast<std::int64_t>(bytes));
  if (channels != 0) {
    line.set("ctas", channels);
  }
  cases.push_back(
      {line, depth, [=](const Bench& bench) { return measure(bench, what, bytes, channels); }});
}

}  // namespace

void add_collectives(const Plan& plan, Cases& cases) {
  struct Named {
    const char* kind;
    Collective what;
  };
  for (const Named& named : {Named{"micro.nccl_alltoall", Collective::all_to_all},
                             Named{"micro.nccl_allreduce", Collective::all_reduce},
                             Named{"micro.nccl_allgather", Collective::all_gather},
                             Named{"micro.nccl_reducescatter", Collective::reduce_scatter}}) {
    for (unsigned power = 10; power <= 28; ++power) {  // 1 KiB to 256 MiB; each second one is quick
      add(plan, named.kind, named.what, std::size_t{1} << power, 0,
          power % 2 == 0 ? Depth::quick : Depth::full, cases);
    }
    for (const int channels : {1, 2, 4, 8, 16, 24, 32}) {
      for (const std::size_t mebibytes : {1, 64}) {
        add(plan, named.kind, named.what, mebibytes << 20U, channels, Depth::full, cases);
      }
    }
  }
}

}  // namespace calibration
