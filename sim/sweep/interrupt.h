// Ctrl-C and SIGTERM, and limits of time, as a question that long work asks.
#pragma once

namespace weft {

// From here on the first of these signals only makes these true; the second one kills.
void catch_interrupts();
bool interrupted();  // also by a limit of time: nothing new begins
bool interrupted_by_signal();

// Then what is under way stops, too: by a signal, or by a limit of time in which something has
// ended that is kept. However short the limit, the same command then comes further each time.
bool must_stop_now();

// A limit of time, until it is taken back.
void ask_to_stop(bool stop);
// Something has ended since the last limit of time was taken back, and is kept.
void has_ended_and_is_kept();

// Thrown by work that stops because of it.
struct Interrupted {};

}  // namespace weft
