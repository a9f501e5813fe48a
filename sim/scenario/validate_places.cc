// What a WG takes of its CU, and whether there is so much.
#include <string>

#include "sim/gpu_model/residency.h"
#include "sim/scenario/check.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/operator_kind.h"

namespace weft::rules {
namespace {

// Of a WG whose shape stands at `path`.
void a_wg_of_this_shape_fits(const Check& check, const WgShape& wg, const std::string& path) {
  const int wave = check.scenario.cluster.gpu.wave_size;
  const CuResources& cu = check.scenario.cluster.gpu.cu;
  if (wg.threads % wave != 0) {
    check.fail(path + ".threads", text(wg.threads) +
                                      " threads are not a whole number of waves of " + text(wave) +
                                      "; nearest: " + multiples_around(wg.threads, wave));
  }
  const int waves = (wg.threads - 1) / wave + 1;
  if (waves > cu.waves) {
    check.fail(path + ".threads", "a WG of " + text(waves) + " waves does not fit on a CU of " +
                                      text(cu.waves) + "; at most " + text(cu.waves * wave) +
                                      " threads");
  }
  if (wg.lds > cu.lds) {
    check.fail(path + ".lds",
               to_text(wg.lds) + " per WG do not fit on a CU that has " + to_text(cu.lds));
  }
  const int most = cu.registers / wg.threads;
  if (wg.registers_per_thread > most) {
    check.fail(path + ".registers_per_thread",
               text(wg.threads) + " threads x " + text(wg.registers_per_thread) +
                   " registers do not fit on a CU that has " + text(cu.registers) + "; at most " +
                   text(most) + " per thread");
  }
}

void a_wg_fits_on_a_cu(const Check& check) {
  if (!check.good({"workload.kind", "cluster.gpu.cu", "cluster.gpu.wave_size"})) return;
  const Workload& workload = check.scenario.workload;
  const OperatorKind* const computes = row_of(workload.kind).computes;
  if (computes == nullptr || !check.good({computes->path_of_wg})) return;
  const std::string path = computes->path_of_wg;
  const WgShape wg = wg_of(workload);
  a_wg_of_this_shape_fits(check, wg, path);
  const int most = check.scenario.cluster.gpu.cu.registers / wg.threads;
  if (wg.registers_per_thread > most || !fuses(check.scenario)) return;
  if (!check.good({"fused.extra_registers_per_thread"})) return;
  const int extra = check.scenario.fused.extra_registers_per_thread;
  if (wg.registers_per_thread + extra > most) {
    check.fail("fused.extra_registers_per_thread",
               "a WG with " + text(wg.registers_per_thread) + " + " + text(extra) +
                   " registers per thread does not fit on a CU; at most " +
                   text(most - wg.registers_per_thread) + " extra");
  }
}

// A channel keeps a place on a CU like any WG.
void a_channel_fits_on_a_cu(const Check& check) {
  if (!check.good({"cluster.gpu.cu", "cluster.gpu.wave_size", "cluster.gpu.collective.channel"}))
    return;
  a_wg_of_this_shape_fits(check, check.scenario.cluster.gpu.collective.channel,
                          "cluster.gpu.collective.channel");
}

// It has the registers of a channel.
void a_wg_of_an_engine_fits_on_a_cu(const Check& check) {
  if (!check.good({"cluster.gpu.cu", "cluster.gpu.wave_size", "cluster.gpu.collective.channel",
                   "cluster.gpu.collective.engine.threads", "collective.algorithm"}))
    return;
  const GpuSpec& gpu = check.scenario.cluster.gpu;
  if (!gpu.collective.engine || !check.scenario.collective.algorithm.of_engine) return;
  WgShape wg = gpu.collective.channel;
  wg.threads = gpu.collective.engine->threads;
  wg.lds = bytes(0);
  if (wgs_per_cu(gpu.cu, footprint(wg.threads, wg.registers_per_thread, wg.lds, gpu.wave_size)) > 0)
    return;
  check.fail("cluster.gpu.collective.engine.threads",
             text(wg.threads) + " threads with the " + text(wg.registers_per_thread) +
                 " registers of a channel do not fit on a CU of " + text(gpu.cu.registers) +
                 " registers and " + text(gpu.cu.waves) + " waves");
}

}  // namespace

void validate_places(const Check& check) {
  a_wg_fits_on_a_cu(check);
  a_channel_fits_on_a_cu(check);
  a_wg_of_an_engine_fits_on_a_cu(check);
}

}  // namespace weft::rules
