// Tables of the words that keys take, each with its value and its meaning.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/spec/reader.h"

namespace weft::names {

inline constexpr std::array kTruths = {
    Choice<bool>{"false", false},
    Choice<bool>{"true", true},
};

// Of such a key: nobody has said which.
template <class E>
inline constexpr std::optional<E> kAuto = std::nullopt;

// The same with `auto`, which leaves the choice to the library or to what wrote the trace.
template <class E, std::size_t n>
constexpr std::array<Choice<std::optional<E>>, n + 1> with_auto(
    const std::array<Choice<E>, n>& choices) {
  std::array<Choice<std::optional<E>>, n + 1> all{};
  all[0] = {"auto", std::nullopt};
  for (std::size_t i = 0; i < n; ++i) {
    all[i + 1] = {choices[i].name, choices[i].value, choices[i].meaning};
  }
  return all;
}

template <class E, std::size_t n>
std::string_view word(const std::array<Choice<E>, n>& choices, E value) {
  for (const Choice<E>& choice : choices) {
    if (choice.value == value) return choice.name;
  }
  return "";
}

// The words whose values suit, for conditions.
template <class E, std::size_t n>
std::vector<std::string_view> words_that(const std::array<Choice<E>, n>& choices,
                                         bool (*suits)(E)) {
  std::vector<std::string_view> words;
  for (const Choice<E>& choice : choices) {
    if (suits(choice.value)) words.push_back(choice.name);
  }
  return words;
}

}  // namespace weft::names
