// Shapes: the links of a fabric and the routes that messages take over them.
//
// A fabric connects `endpoints` vertices, numbered from 0; switches have the numbers after them. A
// route is found link by link: next(at, to, hash) is a pure function of where the message is and
// where it goes, so nothing is stored per pair and 4,096 endpoints cost no more than their links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

// One direction of one cable between two vertices.
struct ShapeLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint8_t dimension = 0;  // class of the link in reports: torus dimension; 0 up, 1 down
};

class Shape {
 public:
  virtual ~Shape() = default;
  Shape(const Shape&) = delete;
  Shape(Shape&&) = delete;
  Shape& operator=(const Shape&) = delete;
  Shape& operator=(Shape&&) = delete;

  [[nodiscard]] std::uint32_t endpoints() const { return endpoints_; }
  [[nodiscard]] const std::vector<ShapeLink>& links() const { return links_; }

  // The next link of a message at vertex `at` that is bound for endpoint `to` (not `at`). `hash`
  // chooses among equal routes if the topology says so.
  [[nodiscard]] virtual std::uint32_t next(std::uint32_t at, std::uint32_t to,
                                           std::uint64_t hash) const = 0;

  // If all endpoints can be shifted by this many (TopologySpec::can_move), the link that then takes
  // the place of `link`.
  [[nodiscard]] std::uint32_t moved(std::uint32_t link, std::uint32_t by) const;

  // The link of a `smaller` shape of the same topology that stands for `link`, where the endpoints
  // `of[..]` of it stand for this one's (TopologySpec::stands_for_row).
  [[nodiscard]] virtual std::uint32_t stands_for(std::uint32_t link, const Shape& smaller,
                                                 const std::vector<std::uint32_t>& of) const;

  // Number of links between two endpoints.
  [[nodiscard]] int hops(std::uint32_t from, std::uint32_t to, std::uint64_t hash) const;

  // "16x8 torus", "fat tree of 8 leaves and 16 spines", for people.
  [[nodiscard]] virtual std::string description() const = 0;

  // "x+", "up": the class of a link, for reports.
  [[nodiscard]] virtual const char* link_class(const ShapeLink& link) const = 0;

 protected:
  explicit Shape(std::int64_t endpoints);
  void add(std::uint32_t from, std::uint32_t to, unsigned dimension);

 private:
  // moved() for `by` > 0.
  [[nodiscard]] virtual std::uint32_t moved_link(std::uint32_t link, std::uint32_t by) const;

  std::uint32_t endpoints_;
  std::vector<ShapeLink> links_;
};

}  // namespace weft
