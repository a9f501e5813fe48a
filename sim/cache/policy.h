// What a kernel does with the caches.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weft::cache {

enum class Loads : std::uint8_t { bypass, cached };
enum class Stores : std::uint8_t {
  bypass,         // to the memory, past all lines
  write_through,  // into the L2 and to the memory
  write_back      // combined in the L2; to the memory when evicted and when the kernel ends
};

struct Policy {
  Loads loads = Loads::cached;  // in L1 and L2
  Stores stores = Stores::bypass;
  bool allocation_bypass = false;  // where a request would wait for a line: bypass
  // Dirty lines of a DRAM row are written back together: with one that is evicted, when more than
  // a quarter of the L2 is dirty, and when the channel has nothing else to do.
  bool cache_rinse = false;
  bool pc_bypass = false;  // loads whose lines were not used again bypass the L2
};

struct NamedPolicy {
  std::string_view name;
  Policy policy;
};

// The static ones first.
inline constexpr std::array kPolicies{
    NamedPolicy{"uncached", {.loads = Loads::bypass, .stores = Stores::bypass}},
    NamedPolicy{"cache_r", {.loads = Loads::cached, .stores = Stores::bypass}},
    NamedPolicy{"cache_rw", {.loads = Loads::cached, .stores = Stores::write_back}},
    NamedPolicy{"allocation_bypass",
                {.loads = Loads::cached, .stores = Stores::write_back, .allocation_bypass = true}},
    NamedPolicy{"cache_rinse",
                {.loads = Loads::cached,
                 .stores = Stores::write_back,
                 .allocation_bypass = true,
                 .cache_rinse = true}},
    NamedPolicy{"pc_bypass",
                {.loads = Loads::cached,
                 .stores = Stores::write_back,
                 .allocation_bypass = true,
                 .cache_rinse = true,
                 .pc_bypass = true}}};

// The same for all of a kernel's requests, whatever the caches hold.
constexpr bool is_static(const NamedPolicy& named) {
  return !named.policy.allocation_bypass && !named.policy.cache_rinse && !named.policy.pc_bypass;
}

}  // namespace weft::cache
