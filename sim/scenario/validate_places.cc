// What a WG takes of its CU, and whether there is so much.
#include <string>

#include "sim/scenario/check.h"

namespace weft::rules {
namespace {

void threads_are_whole_waves(const Check& check) {
  if (!check.embeds() || !check.good({"cluster.gpu.wave_size", "workload.wg.threads"})) return;
  const int threads = check.scenario.workload.embedding.wg.threads;
  const int wave = check.scenario.cluster.gpu.wave_size;
  if (threads % wave == 0) return;
  check.fail("workload.wg.threads", text(threads) + " threads are not whole waves of " +
                                        text(wave) +
                                        "; nearest: " + multiples_around(threads, wave));
}

void a_wg_fits_on_a_cu(const Check& check) {
  if (!check.embeds()) return;
  if (!check.good({"cluster.gpu.cu", "cluster.gpu.wave_size", "workload.wg"})) return;
  const CuResources& cu = check.scenario.cluster.gpu.cu;
  const WgShape& wg = check.scenario.workload.embedding.wg;
  const int waves = (wg.threads - 1) / check.scenario.cluster.gpu.wave_size + 1;
  if (waves > cu.waves) {
    check.fail("workload.wg.threads", "a WG of " + text(waves) + " waves does not fit on a CU of " +
                                          text(cu.waves) + "; at most " +
                                          text(cu.waves * check.scenario.cluster.gpu.wave_size) +
                                          " threads");
  }
  if (wg.lds > cu.lds) {
    check.fail("workload.wg.lds",
               to_text(wg.lds) + " a WG do not fit on a CU that has " + to_text(cu.lds));
  }
  const int most = cu.registers / wg.threads;
  if (wg.registers_per_thread > most) {
    return check.fail("workload.wg.registers_per_thread",
                      text(wg.threads) + " threads x " + text(wg.registers_per_thread) +
                          " registers do not fit on a CU that has " + text(cu.registers) +
                          "; at most " + text(most) + " a thread");
  }
  if (!check.has(Mode::fused) || !check.good({"fused.extra_registers_per_thread"})) return;
  const int extra = check.scenario.fused.extra_registers_per_thread;
  if (wg.registers_per_thread + extra > most) {
    check.fail("fused.extra_registers_per_thread",
               "a WG with " + text(wg.registers_per_thread) + " + " + text(extra) +
                   " registers a thread does not fit on a CU; at most " +
                   text(most - wg.registers_per_thread) + " extra");
  }
}

// A channel keeps a place on a CU like any WG.
void a_channel_fits_on_a_cu(const Check& check) {
  if (!check.has(Mode::bulk) && !check.has(Mode::kernel)) return;
  if (check.scenario.bulk.executor == CollectiveExecutor::dma) return;
  if (!check.good({"modes", "bulk.executor", "cluster.gpu.cu.waves", "cluster.gpu.cu.registers",
                   "cluster.gpu.wave_size"}))
    return;
  constexpr int kWaves = 4;
  constexpr int kRegistersPerThread = 64;
  const CuResources& cu = check.scenario.cluster.gpu.cu;
  if (cu.waves < kWaves) {
    check.fail("cluster.gpu.cu.waves", "a channel of the collective, a WG of " + text(kWaves) +
                                           " waves, does not fit on a CU of " + text(cu.waves) +
                                           "; at least " + text(kWaves));
  }
  const int threads = kWaves * check.scenario.cluster.gpu.wave_size;
  const int registers = threads * kRegistersPerThread;
  if (cu.registers < registers) {
    check.fail("cluster.gpu.cu.registers",
               "a channel of the collective, " + text(threads) + " threads x " +
                   text(kRegistersPerThread) + " registers, does not fit on a CU that has " +
                   text(cu.registers) + "; at least " + text(registers));
  }
}

}  // namespace

void validate_places(const Check& check) {
  threads_are_whole_waves(check);
  a_wg_fits_on_a_cu(check);
  a_channel_fits_on_a_cu(check);
}

}  // namespace weft::rules
