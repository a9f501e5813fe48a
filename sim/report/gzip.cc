#include "sim/report/gzip.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>

#include "sim/core/assert.h"

namespace weft {

std::string gzipped(std::string_view text) {
  constexpr int kGzip = 16;  // added to the bits of the window
  constexpr int kMemoryLevel = 8;
  z_stream stream{};
  SIM_ASSERT(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip,
                          kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed;
  std::array<unsigned char, 1U << 16U> buffer{};
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && !text.empty()) {
      // zlib counts in 32 bits.
      const std::size_t part = std::min<std::size_t>(text.size(), 1U << 30U);
      stream.next_in = reinterpret_cast<const Bytef*>(text.data());
      stream.avail_in = static_cast<uInt>(part);
      text.remove_prefix(part);
    }
    stream.next_out = buffer.data();
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = deflate(&stream, text.empty() ? Z_FINISH : Z_NO_FLUSH);
    SIM_ASSERT(state == Z_OK || state == Z_STREAM_END);
    packed.append(buffer.begin(), buffer.end() - stream.avail_out);
  }
  deflateEnd(&stream);
  return packed;
}

}  // namespace weft
