// A library of collectives for the emulation: each GPU waits for all, then takes what it needs.

#include <barrier>
#include <cstring>

#include "check.h"
#include "collectives.h"
#include "numbers.h"

namespace calibration {
namespace {

template <class T, class Read, class Write>
void add_up(const std::vector<const void*>& from, T* to, std::size_t first, std::size_t count,
            Read read, Write write) {
  for (std::size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (const void* source : from) {
      sum += read(static_cast<const T*>(source)[first + i]);
    }
    to[i] = write(sum);
  }
}

void add_elements(Element element, const std::vector<const void*>& from, void* to,
                  std::size_t first, std::size_t count) {
  const auto same = [](float value) { return value; };
  if (element == Element::float32) {
    add_up(from, static_cast<float*>(to), first, count, same, same);
  } else {
    add_up(from, static_cast<bf16_bits*>(to), first, count, from_bf16, to_bf16);
  }
}

class EmulatedCommunicator final : public Communicator {
 public:
  explicit EmulatedCommunicator(const Machine& machine) : gpus_(machine.gpus().size()) {}

  void launch(const Exchange& exchange, const std::vector<hipStream_t>& streams) override {
    const auto meeting = std::make_shared<std::barrier<>>(static_cast<std::ptrdiff_t>(gpus_));
    std::vector<const void*> from;
    for (std::size_t g = 0; g < gpus_; ++g) {
      from.push_back(exchange.from(static_cast<int>(g)));
    }
    for (std::size_t g = 0; g < gpus_; ++g) {
      void* to = exchange.to(static_cast<int>(g));
      emulation::enqueue(streams[g], [=, this, what = exchange.what, element = exchange.element,
                                      bytes = exchange.bytes] {
        meeting->arrive_and_wait();
        move(what, element, bytes, from, to, g);
        meeting->arrive_and_wait();
      });
    }
  }

 private:
  void move(Collective what, Element element, std::size_t bytes,
            const std::vector<const void*>& from, void* to, std::size_t me) const {
    const std::size_t count = bytes / (element == Element::float32 ? 4 : 2);
    const std::size_t part = bytes / gpus_;
    if (what == Collective::all_reduce) {
      add_elements(element, from, to, 0, count);
    } else if (what == Collective::reduce_scatter) {
      add_elements(element, from, to, me * (count / gpus_), count / gpus_);
    } else {
      for (std::size_t source = 0; source < gpus_; ++source) {
        const std::size_t offset = what == Collective::all_to_all ? me * part : 0;
        std::memcpy(static_cast<char*>(to) + source * part,
                    static_cast<const char*>(from[source]) + offset, part);
      }
    }
  }

  std::size_t gpus_;
};

}  // namespace

std::unique_ptr<Communicator> make_communicator(const Machine& machine, int /*channels*/) {
  return std::make_unique<EmulatedCommunicator>(machine);
}

std::string collectives_library() { return "emulation"; }

}  // namespace calibration
