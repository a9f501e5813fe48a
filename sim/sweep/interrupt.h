// Ctrl-C and SIGTERM, and limits of time, as a question that long work asks.
#pragma once

namespace weft {

// From here on the first of these signals only makes these true; the second one kills.
void catch_interrupts();
bool interrupted();            // also by a limit of time: nothing new begins
bool interrupted_by_signal();  // then what is under way stops, too

// A limit of time, until it is taken back. What has begun ends and is kept: however short the
// limit, the same command then comes further each time.
void ask_to_stop(bool stop);

// Thrown by work that stops because of it.
struct Interrupted {};

}  // namespace weft
