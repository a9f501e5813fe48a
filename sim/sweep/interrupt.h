// Ctrl-C and SIGTERM as a question that long work asks.
#pragma once

namespace weft {

// From here on the first of these signals only makes interrupted() true; the second one kills.
void catch_interrupts();
bool interrupted();

// As if there were such a signal, until it is taken back: a limit of time.
void ask_to_stop(bool stop);

// Thrown by work that stops because of it.
struct Interrupted {};

}  // namespace weft
