// Shapes: the links of a fabric and the way a message takes over them.
//
// A fabric joins `endpoints` vertices, numbered from 0; switches have the numbers after them. A
// route is asked for link by link: next(at, to, hash) is a pure function of where the message is
// and where it goes, so nothing is stored per pair and 4,096 endpoints cost no more than their
// links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/network_spec.h"

namespace weft {

// One direction of one cable between two vertices.
struct ShapeLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint8_t dimension = 0;  // class of the link in reports: torus dimension; 0 up, 1 down
};

class Shape {
 public:
  Shape(const FabricSpec& spec, int endpoints);

  // Links that a shape of this spec has, without building it.
  static std::int64_t count_links(const FabricSpec& spec, std::int64_t endpoints);

  [[nodiscard]] std::uint32_t endpoints() const { return endpoints_; }
  [[nodiscard]] const std::vector<ShapeLink>& links() const { return links_; }

  // The link on which a message at vertex `at`, bound for endpoint `to` (not `at`), goes on. `hash`
  // chooses among equal ways where the spec says so.
  [[nodiscard]] std::uint32_t next(std::uint32_t at, std::uint32_t to, std::uint64_t hash) const;

  // Whether all that messages do is the same with every endpoint `by` further on, on other links.
  [[nodiscard]] bool can_move(std::uint32_t by) const;
  // The link that then stands for `link`.
  [[nodiscard]] std::uint32_t moved(std::uint32_t link, std::uint32_t by) const;

  // Links between two endpoints.
  [[nodiscard]] int hops(std::uint32_t from, std::uint32_t to, std::uint64_t hash) const;

  // "16x8 torus", "fat tree of 8 leaves and 16 spines", for people.
  [[nodiscard]] const std::string& description() const { return description_; }

  // "x+", "up": the class of a link, for reports.
  [[nodiscard]] const char* link_class(const ShapeLink& link) const;

 private:
  void build_fully_connected();
  void build_switch();
  void build_torus(const FabricSpec& spec);
  void build_fat_tree(const FabricSpec& spec);
  void add(std::uint32_t from, std::uint32_t to, unsigned dimension);
  [[nodiscard]] bool odd_pair(const std::uint16_t* here, const std::uint16_t* there,
                              std::size_t d) const;
  [[nodiscard]] std::uint32_t next_in_torus(std::uint32_t at, std::uint32_t to) const;
  [[nodiscard]] std::uint32_t next_in_fat_tree(std::uint32_t at, std::uint32_t to,
                                               std::uint64_t hash) const;

  ShapeKind kind_;
  RingTies ring_ties_;
  UpRouting up_routing_;
  std::uint32_t endpoints_;
  std::vector<ShapeLink> links_;
  std::string description_;
  // torus: sizes, and the coordinates of every endpoint, dimension by dimension
  std::vector<std::uint32_t> sizes_;
  std::vector<std::uint16_t> coordinates_;
  // fat tree
  std::uint32_t per_leaf_ = 0;
  std::uint32_t leaves_ = 0;
  std::uint32_t spines_ = 0;
};

}  // namespace weft
