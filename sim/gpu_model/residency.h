// Residency: how many work-groups (WGs) a CU holds at once, and which CU has room for the next.
//
// A WG takes waves, registers, LDS and a slot of its CU from dispatch to end; it is never
// preempted. Allocation granularity of registers and LDS is not modelled (DEVIATIONS.md).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

// What one WG takes of a CU.
struct WgFootprint {
  int waves = 1;
  int registers = 0;  // 32-bit registers of all its threads
  Bytes lds;
  int slots = 1;  // 0: it is part of WGs that are there, and takes nothing
};
constexpr WgFootprint kNoRoom{.waves = 0, .registers = 0, .lds = {}, .slots = 0};

WgFootprint footprint(int threads, int registers_per_thread, Bytes lds, int wave_size);

// WGs of this footprint that fit on an empty CU; 0 where not even one does.
int wgs_per_cu(const CuResources& cu, const WgFootprint& wg);

// What limits wgs_per_cu(), in words: "waves", "registers", "LDS" or "WG slots".
const char* occupancy_limit(const CuResources& cu, const WgFootprint& wg);

// The CUs that a kernel's WGs may use: a mask, as a partition makes it.
struct CuRange {
  std::uint32_t first = 0;
  std::uint32_t count = UINT32_MAX;  // to the last one
  [[nodiscard]] bool contains(std::uint32_t cu) const { return cu >= first && cu - first < count; }
};

// How many CUs of a GPU with `cus` CUs are in the range.
int cus_in(CuRange range, int cus);

// The CUs of one GPU and what is free on each.
class CuSet {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  CuSet(int cus, const CuResources& cu);

  // Takes a WG's share on the next of these CUs, round robin, that has room; kNone where none has.
  std::uint32_t place(const WgFootprint& wg, CuRange among = {});

  // The same on one given CU; false where it has no room.
  bool place_on(std::uint32_t cu, const WgFootprint& wg);
  void release(std::uint32_t cu, const WgFootprint& wg);

  [[nodiscard]] std::uint32_t cus() const { return static_cast<std::uint32_t>(free_.size()); }
  [[nodiscard]] int resident_wgs(std::uint32_t cu) const;

 private:
  std::vector<CuResources> free_;
  int slots_;
  std::uint32_t next_ = 0;
};

}  // namespace weft
