// What a launch costs: kernels that do nothing, in a row, behind the gate and from the host.

#include <memory>

#include "kernels.h"
#include "suite.h"

namespace calibration {
namespace {

constexpr int full_grid_per_unit = 8;  // WGs of 256 threads: all threads an SM or CU can hold

__global__ void nothing() {}

void queue_row(const Machine& machine, int kernels, Grid grid) {
  for (const Gpu& gpu : machine.gpus()) {
    gpu.use();
    for (int i = 0; i < kernels; ++i) {
      launch(nothing, grid, gpu.main);
    }
  }
}

// `kernels` launches of a GPU as one graph.
class RowGraph {
 public:
  RowGraph(const Gpu& gpu, int kernels, Grid grid) {
    gpu.use();
    check(hipStreamBeginCapture(gpu.main, hipStreamCaptureModeThreadLocal));
    for (int i = 0; i < kernels; ++i) {
      launch(nothing, grid, gpu.main);
    }
    check(hipStreamEndCapture(gpu.main, &graph_));
    check(hipGraphInstantiate(&executable_, graph_, nullptr, nullptr, 0));
  }
  ~RowGraph() {
    static_cast<void>(hipGraphExecDestroy(executable_));
    static_cast<void>(hipGraphDestroy(graph_));
  }
  RowGraph(const RowGraph&) = delete;
  RowGraph& operator=(const RowGraph&) = delete;

  void queue(const Gpu& gpu) const {
    gpu.use();
    check(hipGraphLaunch(executable_, gpu.main));
  }

 private:
  hipGraph_t graph_ = nullptr;
  hipGraphExec_t executable_ = nullptr;
};

enum class From { gate, host };

std::vector<double> time_from(From from, const Bench& bench, const Work& work) {
  return from == From::gate ? bench.timer.behind_gate(work) : bench.timer.from_host(work);
}

Case row_case(const JsonLine& line, From from, int kernels, Grid grid) {
  return {line, Depth::quick, [=](const Bench& bench) {
            return time_from(from, bench,
                             {.queue = [&](unsigned) { queue_row(bench.machine, kernels, grid); }});
          }};
}

Case graph_case(const JsonLine& line, From from, int kernels, Grid grid) {
  return {line, Depth::quick, [=](const Bench& bench) {
            std::vector<std::unique_ptr<RowGraph>> graphs;
            for (const Gpu& gpu : bench.machine.gpus()) {
              graphs.push_back(std::make_unique<RowGraph>(gpu, kernels, grid));
            }
            return time_from(from, bench, {.queue = [&](unsigned) {
                               for (std::size_t i = 0; i < graphs.size(); ++i) {
                                 graphs[i]->queue(bench.machine.gpus()[i]);
                               }
                             }});
          }};
}

}  // namespace

void add_launch(const Plan& plan, Cases& cases) {
  const Grid one{.wgs = 1};
  const Grid full{.wgs = full_grid_per_unit * plan.units};
  const auto line = [&](const char* kind, int kernels) {
    return line_of(kind, plan).set("n", kernels);
  };
  for (const int n : {1, 2, 11, 101}) {
    cases.push_back(row_case(line("micro.empty_kernel", n), From::gate, n, one));
    cases.push_back(row_case(line("micro.empty_kernel_full", n), From::gate, n, full));
    cases.push_back(graph_case(line("micro.empty_kernel_graph", n), From::gate, n, one));
    cases.push_back(graph_case(line("micro.empty_kernel_graph_full", n), From::gate, n, full));
    cases.push_back(row_case(line("micro.empty_kernel_host", n), From::host, n, one));
    cases.push_back(graph_case(line("micro.empty_kernel_graph_host", n), From::host, n, one));
  }
}

}  // namespace calibration
