#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine.h"

// The library of collectives, RCCL or NCCL, chosen when this is built.

namespace calibration {

enum class Collective { all_to_all, all_reduce, all_gather, reduce_scatter };
enum class Element { float32, bf16 };

// `bytes` is the send buffer of all-to-all, all-reduce and reduce-scatter, the receive buffer of
// all-gather: the larger of the two where they differ.
struct Exchange {
  Collective what;
  Element element;
  std::size_t bytes;
  std::function<const void*(int gpu)> from;
  std::function<void*(int gpu)> to;
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  // Queues the exchange on one stream of each GPU.
  virtual void launch(const Exchange& exchange, const std::vector<hipStream_t>& streams) = 0;
};

// `channels`: how many WGs the library may use on a GPU; 0 leaves it to the library.
std::unique_ptr<Communicator> make_communicator(const Machine& machine, int channels);

// Communicators by their number of channels, made when first asked for: that takes a second.
class Communicators {
 public:
  explicit Communicators(const Machine& machine) : machine_(machine) {}

  Communicator& with_channels(int channels) {
    for (const Made& made : made_) {
      if (made.channels == channels) {
        return *made.communicator;
      }
    }
    made_.push_back({channels, make_communicator(machine_, channels)});
    return *made_.back().communicator;
  }

 private:
  struct Made {  // a std::map of unique_ptr crashes clang 15 when it compiles for a GPU
    int channels;
    std::unique_ptr<Communicator> communicator;
  };

  const Machine& machine_;
  std::vector<Made> made_;
};

std::string collectives_library();  // name and version

}  // namespace calibration
