#include "sim/traces/gunzip.h"

#include <fmt/format.h>

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>

#include "sim/core/assert.h"

namespace weft {
namespace {

class Inflater {
 public:
  explicit Inflater(std::string_view packed) : packed_(packed) {
    constexpr int kGzip = 16;  // added to the window bits to select the gzip format
    SIM_ASSERT(inflateInit2(&stream_, MAX_WBITS + kGzip) == Z_OK);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  Unpacked unpack(std::int64_t at_most) {
    Unpacked unpacked;
    std::array<unsigned char, 1U << 16U> buffer{};
    while (true) {
      refill();
      stream_.next_out = buffer.data();
      stream_.avail_out = static_cast<uInt>(buffer.size());
      const int state = inflate(&stream_, Z_NO_FLUSH);
      unpacked.text.append(buffer.begin(), buffer.end() - stream_.avail_out);
      if (static_cast<std::int64_t>(unpacked.text.size()) > at_most) {
        unpacked.problem =
            fmt::format("unpacked, it is larger than the {} B that are allowed", at_most);
        return unpacked;
      }
      const bool ended = state == Z_STREAM_END;
      if (ended && left() == 0) return unpacked;
      if (ended && inflateReset(&stream_) == Z_OK) continue;  // another member
      if (state == Z_OK) continue;
      unpacked.problem = state == Z_BUF_ERROR ? "not a whole gzip file: it ends too early"
                                              : "not a gzip file, or a damaged one";
      return unpacked;
    }
  }

 private:
  [[nodiscard]] std::size_t left() const { return packed_.size() + stream_.avail_in; }

  void refill() {
    if (stream_.avail_in > 0 || packed_.empty()) return;
    // zlib counts in 32 bits.
    const std::size_t part = std::min<std::size_t>(packed_.size(), 1U << 30U);
    stream_.next_in = reinterpret_cast<const Bytef*>(packed_.data());
    stream_.avail_in = static_cast<uInt>(part);
    packed_.remove_prefix(part);
  }

  std::string_view packed_;
  z_stream stream_{};
};

}  // namespace

Unpacked gunzipped(std::string_view packed, std::int64_t at_most) {
  return Inflater(packed).unpack(at_most);
}

}  // namespace weft
