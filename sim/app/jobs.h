// How many simulations run at a time.
#pragma once

namespace weft {

// No command takes more (--jobs).
inline constexpr int kMostJobs = 4096;

// Those asked for; 0: as many as there are cores, of which a container may be allowed only some.
int jobs_or_cores(int asked);

}  // namespace weft
