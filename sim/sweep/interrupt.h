// Ctrl-C and SIGTERM as a question that long work asks.
#pragma once

namespace weft {

// From here on the first of these signals only makes interrupted() true; the second one kills.
void catch_interrupts();
bool interrupted();

// Thrown by work that stops because of it.
struct Interrupted {};

}  // namespace weft
