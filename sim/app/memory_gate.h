// Concurrent runs must fit into the machine together.
#pragma once

#include <condition_variable>
#include <mutex>

#include "sim/core/quantity.h"

namespace weft {

class MemoryGate {
 public:
  explicit MemoryGate(Bytes all) : all_(all) {}

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
  bool told_ = false;  // that fewer run than could
};

}  // namespace weft
