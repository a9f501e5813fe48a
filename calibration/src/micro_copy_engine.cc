// Copy engines: one copy to one peer, several at once to one peer, and one to each peer, at once or
// one after the other.

#include "buffers.h"
#include "suite.h"

namespace calibration {
namespace {

enum class Target { one_peer, all_peers };

// `copies` to each target, each on a stream of its own; a single one on the stream that is timed.
std::vector<double> measure(const Bench& bench, std::size_t bytes, int copies, Target target) {
  const Machine& machine = bench.machine;
  const int peers = target == Target::one_peer ? 1 : machine.size() - 1;
  const int streams = copies * peers;
  const std::size_t room = bytes * static_cast<std::size_t>(streams);
  const Buffers<char> from(machine, room, Reach::local);
  const Buffers<char> to(machine, room, Reach::local);
  const auto copy = [&](int g, int which, hipStream_t stream) {
    const std::size_t offset = bytes * static_cast<std::size_t>(which);
    const int peer = (g + 1 + which % peers) % machine.size();
    machine.gpu(g).use();
    check(hipMemcpyAsync(to[peer] + offset, from[g] + offset, bytes, hipMemcpyDeviceToDevice,
                         stream));
  };
  return bench.timer.behind_gate({.queue = [&](unsigned) {
    for (int g = 0; g < machine.size(); ++g) {
      const Gpu& gpu = machine.gpu(g);
      if (streams == 1) {
        copy(g, 0, gpu.main);
        continue;
      }
      for (int which = 0; which < streams; ++which) {
        const hipStream_t stream = gpu.copies[static_cast<std::size_t>(which)];
        machine.fork(g, stream);
        copy(g, which, stream);
        machine.join(g, stream, which);
      }
    }
  }});
}

// A copy to each peer, the next one's first, all on the stream that is timed: at any time each GPU
// sends to one and receives from one.
std::vector<double> measure_in_turn(const Bench& bench, std::size_t bytes) {
  const Machine& machine = bench.machine;
  const std::size_t room = bytes * static_cast<std::size_t>(machine.size() - 1);
  const Buffers<char> from(machine, room, Reach::local);
  const Buffers<char> to(machine, room, Reach::local);
  return bench.timer.behind_gate({.queue = [&](unsigned) {
    for (int g = 0; g < machine.size(); ++g) {
      machine.gpu(g).use();
      for (int step = 1; step < machine.size(); ++step) {
        const std::size_t offset = bytes * static_cast<std::size_t>(step - 1);
        check(hipMemcpyAsync(to[(g + step) % machine.size()] + offset, from[g] + offset, bytes,
                             hipMemcpyDeviceToDevice, machine.gpu(g).main));
      }
    }
  }});
}

JsonLine line_for(const Plan& plan, const char* kind, std::size_t bytes) {
  return line_of(kind, plan).set("bytes", static_cast<std::int64_t>(bytes));
}

void add(const Plan& plan, const char* kind, std::size_t bytes, int copies, Target target,
         Cases& cases) {
  bytes = plan.at_most(bytes, std::size_t{65536});
  JsonLine line = line_for(plan, kind, bytes);
  if (copies != 1) {
    line.set("copies", copies);
  }
  cases.push_back({line, Depth::quick,
                   [=](const Bench& bench) { return measure(bench, bytes, copies, target); }});
}

void add_in_turn(const Plan& plan, std::size_t bytes, Cases& cases) {
  bytes = plan.at_most(bytes, std::size_t{65536});
  cases.push_back({line_for(plan, "micro.ce_copy_peers_in_turn", bytes), Depth::quick,
                   [=](const Bench& bench) { return measure_in_turn(bench, bytes); }});
}

}  // namespace

void add_copy_engine(const Plan& plan, Cases& cases) {
  for (const std::size_t kibibytes : {4, 64, 1024, 4096, 16384, 65536, 262144}) {
    add(plan, "micro.ce_copy_one_peer", kibibytes << 10U, 1, Target::one_peer, cases);
    add(plan, "micro.ce_copy_all_peers", kibibytes << 10U, 1, Target::all_peers, cases);
    add_in_turn(plan, kibibytes << 10U, cases);
  }
  for (const std::size_t kibibytes : {64, 4096, 16384}) {
    for (const int copies : {2, 4, 8}) {
      add(plan, "micro.ce_copies_one_peer", kibibytes << 10U, copies, Target::one_peer, cases);
    }
  }
}

}  // namespace calibration
