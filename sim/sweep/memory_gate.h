// Concurrent runs must fit into the machine together.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

#include "sim/core/quantity.h"
#include "sim/sweep/observer.h"

namespace weft {

// Three quarters of the machine's memory: others want some too.
Bytes memory_for_runs();

class MemoryGate {
 public:
  // `say` is told once, when fewer run than could.
  explicit MemoryGate(Bytes all, Say say = {}) : all_(all), say_(std::move(say)) {}

  // Memory that is held while this lives.
  class Pass {
   public:
    Pass(MemoryGate& gate, Bytes need);
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    MemoryGate& gate_;
    Bytes need_;
  };

 private:
  std::mutex lock_;
  std::condition_variable freed_;
  Bytes all_;
  Bytes held_;
  int holders_ = 0;
  Say say_;  // empty once it was told
};

}  // namespace weft
