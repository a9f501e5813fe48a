#include "sim/sweep/filter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "sim/core/assert.h"
#include "sim/core/diagnostics.h"

namespace weft {

// Writes the steps of a calculation: operands first, then what is done with them. A truth is 1 or
// 0.
class FilterParser {
 public:
  FilterParser(std::string_view text, const std::vector<FilterName>& names)
      : text_(text), names_(names) {}

  Filter parse() {
    expect(disjunction(), Type::truth, "a filter must be true or false: compare something");
    skip_spaces();
    if (at_ < text_.size()) fail(at_, "not understood from here on");
    return std::move(filter_);
  }

  struct Rejected {  // thrown by fail(), caught in Filter::parse
    FilterProblem problem;
  };

 private:
  using Op = Filter::Op;
  enum class Type { number, words, truth };
  struct Part {
    Type type;
    std::size_t at;
  };
  struct Symbol {
    std::string_view text;
    Op op;
  };
  // Longer ones first.
  static constexpr std::array kComparisons = {Symbol{"<=", Op::at_most}, Symbol{">=", Op::at_least},
                                              Symbol{"==", Op::equal},   Symbol{"!=", Op::unequal},
                                              Symbol{"<", Op::less},     Symbol{">", Op::more}};
  static constexpr std::array kSums = {Symbol{"+", Op::add}, Symbol{"-", Op::subtract}};
  static constexpr std::array kProducts = {Symbol{"*", Op::multiply}, Symbol{"/", Op::divide}};
  static constexpr std::size_t kMaxDepth = 100;  // of parentheses and signs

  [[noreturn]] static void fail(std::size_t at, std::string message) {
    throw Rejected{{.at = at, .message = std::move(message)}};
  }
  static void expect(const Part& part, Type type, const char* message) {
    if (part.type != type) fail(part.at, message);
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  static bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }

  // The word that comes next, if it is one.
  std::string_view word() {
    skip_spaces();
    std::size_t end = at_;
    while (end < text_.size() && in_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take_word(std::string_view wanted) {
    if (word() != wanted) return false;
    at_ += wanted.size();
    return true;
  }
  template <std::size_t n>
  const Symbol* take(const std::array<Symbol, n>& symbols) {
    skip_spaces();
    for (const Symbol& symbol : symbols) {
      if (!text_.substr(at_).starts_with(symbol.text)) continue;
      at_ += symbol.text.size();
      return &symbol;
    }
    return nullptr;
  }

  void add(Op op) { filter_.steps_.push_back({.op = op}); }

  Part disjunction() { return joined("or", Op::logical_or, &FilterParser::conjunction); }
  Part conjunction() { return joined("and", Op::logical_and, &FilterParser::negation); }

  Part joined(std::string_view word, Op op, Part (FilterParser::*operand)()) {
    constexpr const char* kWanted = "'and' and 'or' join comparisons";
    const Part left = (this->*operand)();
    while (take_word(word)) {
      expect(left, Type::truth, kWanted);
      expect((this->*operand)(), Type::truth, kWanted);
      add(op);
    }
    return left;
  }

  Part negation() {
    skip_spaces();
    const std::size_t at = at_;
    if (!take_word("not")) return comparison();
    deeper();
    expect(negation(), Type::truth, "'not' must be followed by a comparison");
    --depth_;
    add(Op::logical_not);
    return {.type = Type::truth, .at = at};
  }

  Part comparison() {
    const Part left = calculation(kSums, &FilterParser::product);
    const std::size_t at = at_;
    const Symbol* symbol = take(kComparisons);
    if (symbol == nullptr) {
      if (text_.substr(at_).starts_with('=')) fail(at_, "write == to compare");
      return left;
    }
    const Part right = calculation(kSums, &FilterParser::product);
    if (left.type != right.type) fail(right.at, "a number and text cannot be compared");
    const bool ordered = symbol->op != Op::equal && symbol->op != Op::unequal;
    if (ordered && left.type != Type::number) fail(at, "only numbers can be ordered; use == or !=");
    add(symbol->op);
    skip_spaces();
    if (const std::size_t next = at_; take(kComparisons) != nullptr) {
      fail(next, "one comparison at a time; join them with 'and'");
    }
    return {.type = Type::truth, .at = left.at};
  }

  Part product() { return calculation(kProducts, &FilterParser::factor); }

  Part calculation(const std::array<Symbol, 2>& symbols, Part (FilterParser::*operand)()) {
    constexpr const char* kWanted = "arithmetic needs a number";
    const Part left = (this->*operand)();
    while (const Symbol* symbol = take(symbols)) {
      expect(left, Type::number, kWanted);
      expect((this->*operand)(), Type::number, kWanted);
      add(symbol->op);
    }
    return left;
  }

  void deeper() {
    if (++depth_ > kMaxDepth) fail(at_, "nested too deeply");
  }

  Part factor() {
    skip_spaces();
    const std::size_t at = at_;
    if (at == text_.size()) fail(at, "an operand is missing at the end");
    const char next = text_[at];
    if (next == '(') return parenthesis();
    if (next == '\'') return quoted();
    if (next == '-') {
      ++at_;
      deeper();
      expect(factor(), Type::number, "a sign must be followed by a number");
      --depth_;
      add(Op::negate);
      return {.type = Type::number, .at = at};
    }
    if (std::isdigit(static_cast<unsigned char>(next)) != 0) return number();
    if (in_word(next)) return name();
    fail(at, "expected a number, a column, '...' or ( here");
  }

  Part parenthesis() {
    const std::size_t at = at_++;
    deeper();
    const Part inner = disjunction();
    --depth_;
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != ')') fail(at, "this ( is not closed");
    ++at_;
    return {.type = inner.type, .at = at};
  }

  Part quoted() {
    const std::size_t at = at_;
    const auto end = text_.find('\'', at + 1);
    if (end == std::string_view::npos) fail(at, "this ' is not closed");
    filter_.steps_.push_back(
        {.op = Op::words, .words = std::string(text_.substr(at + 1, end - at - 1))});
    at_ = end + 1;
    return {.type = Type::words, .at = at};
  }

  Part number() {
    const std::size_t at = at_;
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at, text_.data() + text_.size(), value);
    at_ = static_cast<std::size_t>(end - text_.data());
    if (error != std::errc() || (at_ < text_.size() && in_word(text_[at_]))) {
      fail(at, "not a number; the column has the unit: bandwidth_gbps >= 200");
    }
    filter_.steps_.push_back({.op = Op::number, .number = value});
    return {.type = Type::number, .at = at};
  }

  Part name() {
    const std::size_t at = at_;
    const std::string wanted(word());
    std::vector<std::string> known;
    known.reserve(names_.size());
    for (const FilterName& name : names_) known.push_back(name.name);
    const auto found = std::find(known.begin(), known.end(), wanted);
    if (found == known.end()) fail(at, unknown(wanted, known));
    at_ += wanted.size();
    const auto index = static_cast<std::size_t>(found - known.begin());
    filter_.steps_.push_back({.op = Op::name, .name = index});
    return {.type = names_[index].is_number ? Type::number : Type::words, .at = at};
  }

  static std::string unknown(const std::string& wanted, const std::vector<std::string>& known) {
    const std::string guess = nearest(wanted, known);
    std::string message = "no column '" + wanted + "'";
    if (!guess.empty()) message += "; did you mean '" + guess + "'?";
    message += guess.empty() ? "; columns:" : " Columns:";
    for (const std::string& name : known) message += ' ' + name;
    return message;
  }

  std::string_view text_;
  const std::vector<FilterName>& names_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  Filter filter_;
};

std::optional<Filter> Filter::parse(std::string_view text, const std::vector<FilterName>& names,
                                    FilterProblem& problem) {
  try {
    return FilterParser(text, names).parse();
  } catch (const FilterParser::Rejected& rejected) {
    problem = rejected.problem;
    return std::nullopt;
  }
}

Cell Filter::apply(const Step& step, const Cell& left, const Cell& right) {
  const auto truth = [](bool is) { return Cell(is ? 1.0 : 0.0); };
  if (step.op == Op::equal) return truth(left == right);
  if (step.op == Op::unequal) return truth(left != right);
  const double a = std::get<double>(left);
  const double b = std::get<double>(right);
  switch (step.op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::less:
      return truth(a < b);
    case Op::at_most:
      return truth(a <= b);
    case Op::more:
      return truth(a > b);
    case Op::at_least:
      return truth(a >= b);
    case Op::logical_and:
      return truth(a != 0 && b != 0);
    case Op::logical_or:
      return truth(a != 0 || b != 0);
    default:
      break;
  }
  SIM_ASSERT(false);
}

bool Filter::keeps(const std::vector<Cell>& cells) const {
  std::vector<Cell> stack;
  for (const Step& step : steps_) {
    if (step.op == Op::number) {
      stack.emplace_back(step.number);
    } else if (step.op == Op::words) {
      stack.emplace_back(step.words);
    } else if (step.op == Op::name) {
      stack.push_back(cells[step.name]);
    } else if (step.op == Op::negate) {
      stack.back() = -std::get<double>(stack.back());
    } else if (step.op == Op::logical_not) {
      stack.back() = std::get<double>(stack.back()) == 0 ? 1.0 : 0.0;
    } else {
      const Cell right = std::move(stack.back());
      stack.pop_back();
      stack.back() = apply(step, stack.back(), right);
    }
  }
  SIM_ASSERT(stack.size() == 1);
  return std::get<double>(stack.back()) != 0;
}

}  // namespace weft
