/* Coverage of the compiled scan, in the form libFuzzer takes: one counter per place in the code.
 *
 * gcc and clang both call __sanitizer_cov_trace_pc at every branch (-fsanitize-coverage=trace-pc), but libFuzzer only
 * reads counters; here the one becomes the other.  fuzz_scan.py hands both tables to libFuzzer.  This file itself is
 * compiled without coverage.  Copyright the Venire developers; Apache-2.0. */

#include <stdint.h>

enum { PLACES = 1 << 14 };

const int coverage_size = PLACES;
uint8_t coverage_counters[PLACES];
uintptr_t coverage_places[PLACES][2]; /* an address and flags; any address will do that tells places apart */

/* Hidden, so that no other library's function of this name comes first. */
__attribute__((visibility("hidden"))) void __sanitizer_cov_trace_pc(void) {
    uintptr_t offset = (uintptr_t)__builtin_return_address(0) - (uintptr_t)__sanitizer_cov_trace_pc;
    uint32_t place = (uint32_t)offset * 2654435761u >> 18;
    coverage_counters[place]++;
    coverage_places[place][0] = place + 1;
}
