// Whether this build has sanitizers: programs then take a multiple of the time and the memory, and
// address space without limit.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_TESTS_SANITIZED
#endif
#endif

namespace weft {

#ifdef WEFT_TESTS_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace weft
