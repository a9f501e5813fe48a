// The order of the items of a fused kernel whose input arrives while it runs.
//
// Own input first, then the peers'. On shared links and switches GPUs send to one peer after
// another, all to the next GPU first: so what arrives first is from the previous one, and no two
// send to the same. Where every pair has a link of its own, they send to all peers in turn, a part
// of each at a time, so that all links are in use. Sends of what comes next are mixed evenly with
// the work on what has come.
//
// In turn (`own_first`): so many WGs of own input, all sends among them, then one WG of each rank's
// input in turn, while there are own ones left.
//
// Sent first (`sent_first`, unless in turn): all sends, each piece to all peers in turn, then the
// work.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

struct ConsumerShape {
  std::uint32_t ranks = 0;
  std::uint32_t pieces = 0;             // that are sent for a slice
  std::vector<std::uint32_t> slice_of;  // by WG of a peer
  std::uint32_t slices = 0;             // of a peer
  bool at_once = false;                 // all peers' input, in ...
  std::uint32_t parts = 1;              // ... so many parts; else peer by peer
  bool copied = false;                  // the switch makes one send one to every peer
  bool sent_first = false;              // before any work
  std::uint32_t own_first = 0;          // WGs, before one of each rank in turn; 0: all own ones
};

struct ConsumerItem {
  bool sends = false;       // piece `index` to `peer`; else it is the `index`-th WG of that peer
  std::uint32_t peer = 0;   // a rank
  std::uint32_t index = 0;  // pieces are numbered slice by slice
};

// Appends the works, the sends spread evenly among them.
template <class T>
void append_mixed(std::vector<T>& items, const std::vector<T>& works, const std::vector<T>& sends) {
  std::size_t sent = 0;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const std::size_t due = (i + 1) * sends.size() / works.size();
    for (; sent < due; ++sent) items.push_back(sends[sent]);
    items.push_back(works[i]);
  }
  for (; sent < sends.size(); ++sent) items.push_back(sends[sent]);
}

std::vector<ConsumerItem> consumer_items(const ConsumerShape& shape, std::uint32_t rank);

}  // namespace weft
