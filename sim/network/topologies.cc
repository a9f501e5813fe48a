// The table of all topologies.
#include <algorithm>
#include <array>

#include "sim/core/assert.h"
#include "sim/network/topology.h"
#include "sim/spec/fields.h"

namespace weft {

// One value of the key `shape`.
struct TopologyRow {
  std::string_view word;
  std::string_view meaning;
  std::unique_ptr<TopologySpec> (*make)();
};

namespace topologies {

std::unique_ptr<TopologySpec> fully_connected();
std::unique_ptr<TopologySpec> one_switch();
std::unique_ptr<TopologySpec> torus();
std::unique_ptr<TopologySpec> fat_tree();
std::unique_ptr<TopologySpec> dragonfly();

namespace {

// Of several words for one topology the last is written: with it all parameters are explicit.
constexpr std::array kAll = {
    TopologyRow{"fully_connected", "a link from every endpoint to every other", fully_connected},
    TopologyRow{"switch", "one switch that is never the limit; may reduce and multicast (reduces)",
                one_switch},
    TopologyRow{"ring", "a torus of one dimension, whose size is the number of endpoints", torus},
    TopologyRow{"torus",
                "1 to 3 dimensions (dims); each endpoint has two links per dimension, one each way",
                torus},
    TopologyRow{"fat_tree", "leaves and spines (endpoints_per_leaf, oversubscription)", fat_tree},
    TopologyRow{"dragonfly",
                "groups of routers (endpoints_per_router, routers_per_group), all joined inside a "
                "group, and links between all groups (links_between_groups)",
                dragonfly},
};

// The words of the same topology, the written one first.
std::vector<std::string_view> words_of(const TopologyRow& row) {
  std::vector<std::string_view> words;
  for (const TopologyRow& other : kAll) {
    if (other.make == row.make) words.insert(words.begin(), other.word);
  }
  return words;
}

bool is_written(const TopologyRow& row) { return words_of(row).front() == row.word; }

const TopologyRow& written_row(const TopologyRow& row) {
  return *std::find_if(kAll.begin(), kAll.end(), [&row](const TopologyRow& other) {
    return other.make == row.make && is_written(other);
  });
}

const TopologyRow& row_of(std::string_view word) {
  const auto* const found = std::find_if(
      kAll.begin(), kAll.end(), [word](const TopologyRow& row) { return row.word == word; });
  SIM_ASSERT(found != kAll.end());
  return *found;
}

using Word = Choice<const TopologyRow*>;
constexpr std::array<Word, kAll.size()> all_words() {
  std::array<Word, kAll.size()> words{};
  for (std::size_t i = 0; i < kAll.size(); ++i) {
    words[i] = {kAll[i].word, &kAll[i], kAll[i].meaning};
  }
  return words;
}
constexpr std::array kWords = all_words();

}  // namespace
}  // namespace topologies

void TopologySpec::fields(Fields& /*map*/, Fabric /*which*/) {}
void TopologySpec::settle(std::int64_t /*endpoints*/) {}
bool TopologySpec::fits(const Endpoints& /*endpoints*/, const KeysOf& /*keys*/) const {
  return true;
}

Topology::Topology() : Topology(topologies::kAll.front()) {}
Topology::Topology(std::string_view word) : Topology(topologies::row_of(word)) {}
Topology::Topology(const TopologyRow& row) : row_(&row), spec_(row.make()) {}
Topology::Topology(const Topology& other) : row_(other.row_), spec_(other.spec_->clone()) {}
Topology& Topology::operator=(const Topology& other) { return *this = Topology(other); }

std::string_view Topology::word() const { return topologies::written_row(*row_).word; }

void Topology::word_field(Fields& map) {
  const TopologyRow* row = &topologies::written_row(*row_);
  map.choice("shape", row, topologies::kWords, {.help = "how the endpoints are connected"});
  if (!map.writes()) *this = Topology(*row);
}

void Topology::own_fields(Fields& map, Fabric which) {
  for (const TopologyRow& row : topologies::kAll) {
    if (!topologies::is_written(row)) continue;
    Fields own = map.where("shape", topologies::words_of(row));
    if (row.make == row_->make) {
      spec_->fields(own, which);
    } else {
      row.make()->fields(own, which);
    }
  }
}

std::string topologies_with_sums() {
  std::string text;
  for (const TopologyRow& row : topologies::kAll) {
    const std::string_view keys = row.make()->sums_on_the_way().keys;
    if (keys.empty()) continue;
    text += (text.empty() ? "shape: " : ", or shape: ") + std::string(row.word) + " and " +
            std::string(keys);
  }
  return text;
}

}  // namespace weft
