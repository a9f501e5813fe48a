// Why the program ended.
#pragma once

namespace weft::exit_code {

inline constexpr int ok = 0;
inline constexpr int user = 1;     // the command line, the scenario, or a run that cannot finish
inline constexpr int machine = 2;  // disk full, not allowed to write, out of memory
inline constexpr int ours = 3;     // the ledger of a run does not balance
inline constexpr int interrupted = 130;  // Ctrl-C: what is finished is kept

}  // namespace weft::exit_code
