// The words for algorithms and protocols of collectives in files and reports.
#pragma once

#include <array>
#include <cstddef>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/spec/words.h"

namespace weft::names {

constexpr auto words_of_algorithms() {
  std::array<Choice<Algorithm>, kAlgorithmRows.size()> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const AlgorithmRow& row = kAlgorithmRows[i];
    words[i] = {row.name, row.algorithm, row.meaning};
  }
  return words;
}
inline constexpr auto kAlgorithms = words_of_algorithms();
inline constexpr std::array kProtocolWords = {
    Choice<Protocol>{"ll", Protocol::ll, "a flag of 8 B with every 8 B"},
    Choice<Protocol>{"ll128", Protocol::ll128, "a flag of 8 B with every 120 B"},
    Choice<Protocol>{"simple", Protocol::simple, "a fence, then a flag"},
};

}  // namespace weft::names
