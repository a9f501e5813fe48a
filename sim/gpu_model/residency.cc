#include "sim/gpu_model/residency.h"

#include <algorithm>
#include <limits>

#include "sim/core/assert.h"

namespace weft {
namespace {

struct Limit {
  std::int64_t wgs;
  const char* name;
};

Limit tightest(const CuResources& cu, const WgFootprint& wg) {
  const auto fits = [](std::int64_t have, std::int64_t each) {
    return each == 0 ? std::numeric_limits<std::int64_t>::max() : have / each;
  };
  const Limit limits[] = {{fits(cu.waves, wg.waves), "waves"},
                          {fits(cu.registers, wg.registers), "registers"},
                          {fits(cu.lds.count(), wg.lds.count()), "LDS"},
                          {cu.wgs, "WG slots"}};
  return *std::min_element(std::begin(limits), std::end(limits),
                           [](const Limit& a, const Limit& b) { return a.wgs < b.wgs; });
}

bool has_room(const CuResources& free, const WgFootprint& wg) {
  if (wg.slots == 0) return true;
  return free.wgs > 0 && free.waves >= wg.waves && free.registers >= wg.registers &&
         free.lds >= wg.lds;
}

void take(CuResources& free, const WgFootprint& wg) {
  free.wgs -= wg.slots;
  free.waves -= wg.waves;
  free.registers -= wg.registers;
  free.lds -= wg.lds;
}

}  // namespace

WgFootprint footprint(int threads, int registers_per_thread, Bytes lds, int wave_size) {
  return {.waves = (threads + wave_size - 1) / wave_size,
          .registers = threads * registers_per_thread,
          .lds = lds};
}

int wgs_per_cu(const CuResources& cu, const WgFootprint& wg) {
  if (wg.slots == 0) return 1;  // one is asked for
  return static_cast<int>(tightest(cu, wg).wgs);
}

const char* occupancy_limit(const CuResources& cu, const WgFootprint& wg) {
  return tightest(cu, wg).name;
}

int cus_in(CuRange range, int cus) {
  const std::int64_t rest = std::int64_t{cus} - range.first;
  return static_cast<int>(std::clamp<std::int64_t>(rest, 0, range.count));
}

CuSet::CuSet(int cus, const CuResources& cu)
    : free_(static_cast<std::size_t>(cus), cu), slots_(cu.wgs) {}

std::uint32_t CuSet::place(const WgFootprint& wg, CuRange among) {
  for (std::uint32_t tried = 0; tried < cus(); ++tried) {
    const std::uint32_t cu = next_;
    next_ = next_ + 1 == cus() ? 0 : next_ + 1;
    if (among.contains(cu) && place_on(cu, wg)) return cu;
  }
  return kNone;
}

bool CuSet::place_on(std::uint32_t cu, const WgFootprint& wg) {
  if (!has_room(free_[cu], wg)) return false;
  take(free_[cu], wg);
  return true;
}

void CuSet::release(std::uint32_t cu, const WgFootprint& wg) {
  CuResources& free = free_[cu];
  free.wgs += wg.slots;
  free.waves += wg.waves;
  free.registers += wg.registers;
  free.lds += wg.lds;
  SIM_ASSERT(free.wgs <= slots_);
}

int CuSet::resident_wgs(std::uint32_t cu) const { return slots_ - free_[cu].wgs; }

}  // namespace weft
