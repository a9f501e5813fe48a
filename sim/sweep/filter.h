// The filter of a sweep: which points are kept.
//
//   nodes * batch <= 8192 and not (algorithm == 'ring' or bandwidth_gbps < 200)
//
// Names are columns. Numbers, 'words', + - * /, < <= > >= == !=, and, or, not, parentheses; words
// can only be compared with == and !=.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/sweep_file.h"

namespace weft {

struct FilterName {
  std::string name;
  bool is_number = false;
};

struct FilterProblem {
  std::size_t at = 0;  // characters before it
  std::string message;
};

class Filter {
 public:
  // Empty, with a problem, if it is not a filter.
  static std::optional<Filter> parse(std::string_view text, const std::vector<FilterName>& names,
                                     FilterProblem& problem);

  // `cells`: one per name, in their order.
  [[nodiscard]] bool keeps(const std::vector<Cell>& cells) const;

 private:
  friend class FilterParser;
  enum class Op {
    number,
    words,
    name,
    negate,
    add,
    subtract,
    multiply,
    divide,
    less,
    at_most,
    more,
    at_least,
    equal,
    unequal,
    logical_not,
    logical_and,
    logical_or
  };
  struct Step {  // of a calculation on a stack
    Op op = Op::number;
    double number = 0;
    std::string words = {};
    std::size_t name = 0;
  };

  static Cell apply(const Step& step, const Cell& left, const Cell& right);

  std::vector<Step> steps_;
};

}  // namespace weft
