#include <algorithm>
#include <cstdint>
#include <string>

#include "sim/core/quantity.h"
#include "sim/scenario/check.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/operator_kind.h"
#include "sim/scenario/validate.h"

namespace weft {
namespace {

using rules::text;

class Defaults {
 public:
  Defaults(Scenario& scenario, Reading& reading) : scenario_(scenario), reading_(reading) {}

  void fit() {
    fit_modes();
    fit_wg();
    if (has_peer_gemm()) fit_tiles();
    fit_chunks();
    fit_target();
  }

 private:
  // A default that nobody wrote takes this value.
  template <class T>
  void take(const std::string& key, T& value, const T& fitting, const std::string& because) {
    if (value == fitting || reading_.gives(key)) return;
    reading_.warn_at_key(key,
                         word(fitting) + " replaces the default, " + word(value) + ": " + because);
    value = fitting;
  }
  static std::string word(int number) { return text(number); }
  static std::string word(Bytes size) { return to_text(size); }

  [[nodiscard]] bool good(std::initializer_list<std::string_view> keys) const {
    return reading_.good({keys.begin(), keys.size()});
  }
  [[nodiscard]] bool has(Mode mode) const {
    return std::find(scenario_.modes.begin(), scenario_.modes.end(), mode) != scenario_.modes.end();
  }
  [[nodiscard]] bool has_peer_gemm() const {
    return has_gemm(scenario_.workload.kind) && is_pair(scenario_.workload.kind) &&
           good({"workload.kind", "workload.gemm.m", "workload.gemm.n", "cluster.nodes",
                 "cluster.gpus_per_node"});
  }

  // Of c3: those with two parts of CUs, on a GPU that has no two.
  void fit_modes() {
    const GpuSpec& gpu = scenario_.cluster.gpu;
    if (scenario_.workload.kind != WorkloadKind::c3 || reading_.gives("modes") ||
        !good({"workload.kind", "cluster.gpu.cus", "cluster.gpu.launch.mask_step"}) ||
        gpu.cus > gpu.launch.mask_step) {
      return;
    }
    const auto parted = [](Mode mode) {
      return has_partition(mode) || mode == Mode::dma_partition;
    };
    std::vector<Mode>& modes = scenario_.modes;
    modes.erase(std::remove_if(modes.begin(), modes.end(), parted), modes.end());
    reading_.warn_at_key("modes", "modes that divide the CUs are left out: " + text(gpu.cus) +
                                      " CUs in steps of " + text(gpu.launch.mask_step) +
                                      " cannot be divided in two");
  }

  // What a WG asks of its CU, and what fusing adds to that.
  void fit_wg() {
    const OperatorKind* const computes = row_of(scenario_.workload.kind).computes;
    if (computes == nullptr) return;
    if (!good({"workload.kind", "cluster.gpu.cu", "cluster.gpu.wave_size"})) return;
    const GpuSpec& gpu = scenario_.cluster.gpu;
    const std::string path = computes->path_of_wg;
    WgShape* const wg = &computes->wg(scenario_.workload);
    take(path + ".threads", wg->threads, std::min(wg->threads, gpu.cu.waves * gpu.wave_size),
         "a CU has only that much");
    take(path + ".lds", wg->lds, std::min(wg->lds, gpu.cu.lds), "a CU has only that much");
    const int most = gpu.cu.registers / wg->threads;
    take(path + ".registers_per_thread", wg->registers_per_thread,
         std::clamp(wg->registers_per_thread, 1, std::max(1, most)), "a CU has only that much");
    int& extra = scenario_.fused.extra_registers_per_thread;
    if (!fuses(scenario_) || wg->registers_per_thread > most) return;
    take("fused.extra_registers_per_thread", extra,
         std::clamp(most - wg->registers_per_thread, 0, extra), "a CU has only that much");
  }

  // Tiles that divide what each peer has, in steps of what matrix units take.
  void fit_tiles() {
    constexpr int kStep = 16;
    const auto divisor = [](std::int64_t whole, int most) {
      for (int tile = most; tile > 0; tile -= kStep) {
        if (whole % tile == 0) return tile;
      }
      return most;
    };
    GemmWork& tiled = scenario_.workload.gemm;
    const int gpus = scenario_.cluster.gpus();
    if (tiled.m % gpus == 0) {
      take("workload.gemm.tile_m", tiled.tile_m, divisor(tiled.m / gpus, tiled.tile_m),
           "tiles must divide the " + text(tiled.m / gpus) + " rows of each peer");
    }
    take("workload.gemm.tile_n", tiled.tile_n, divisor(tiled.n, tiled.tile_n),
         "tiles must divide " + text(tiled.n) + " columns");
  }

  [[nodiscard]] WholeUnits units() const {
    const OperatorKind* const computes = row_of(scenario_.workload.kind).computes;
    if (!good({"workload.kind", "cluster.nodes", "cluster.gpus_per_node"})) return {};
    if (computes == nullptr) return {};
    return computes->units({.scenario = scenario_, .reading = reading_});
  }

  void fit_chunks() {
    int& chunks = scenario_.kernel.chunks;
    const WholeUnits each = units();
    if (each.count < 1 || each.count >= chunks) return;
    const auto fitting = static_cast<int>(each.count);
    if (has(Mode::kernel) && !is_model(scenario_.workload.kind)) {
      take("kernel.chunks", chunks, fitting,
           "each peer has " + text(fitting) + " " + (fitting == 1 ? each.one : each.several) +
               ", and a chunk has at least one");
    } else if (!reading_.gives("kernel.chunks")) {
      chunks = fitting;
    }
  }

  // Nobody sends to itself.
  void fit_target() {
    CollectiveWork& work = scenario_.workload.collective;
    if (scenario_.workload.kind != WorkloadKind::collective ||
        work.op != CollectiveOp::point_to_point || work.root != work.target) {
      return;
    }
    take("workload.target", work.target, 0, "rank " + text(work.root) + " is the sender");
  }

  Scenario& scenario_;
  Reading& reading_;
};

}  // namespace

void fit_defaults(Scenario& scenario, Reading& reading) { Defaults(scenario, reading).fit(); }

}  // namespace weft
