/* Reading finite decimal numbers as the doubles nearest to them.  Copyright the Venire developers; Apache-2.0. */

#ifndef VENIRE_NUMBERS_H
#define VENIRE_NUMBERS_H

#include "bytes.h"

static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline const char *read_digits(const char *p, uint64_t *mantissa) {
    for (unsigned digit; (digit = (unsigned)(uint8_t)*p - '0') < 10; p++) *mantissa = 10 * *mantissa + digit;
    return p;
}

/* Read a number as it usually is, [-] digits [. digits], few enough for 64 bits; 0 if it is not.  A blank follows. */
static inline int read_usual(Slice text, double *value) {
    const char *p = text.at, *end = text.at + text.length;
    uint64_t mantissa = 0;
    int negative = *p == '-';
    const char *first = p + negative, *point = read_digits(first, &mantissa), *last = point;
    if (*point == '.') last = read_digits(point + 1, &mantissa);
    ptrdiff_t places = last > point ? last - point - 1 : 0;
    if (last != end || text.length > 18 || point == first || mantissa > (uint64_t)1 << 53) return 0;
    double magnitude = (double)mantissa / POWERS[places];
    *value = negative ? -magnitude : magnitude;
    return 1;
}

/* As read_number, for a number that is not as usual. */
int read_unusual(Slice text, double *value, PyThreadState **unlocked);

/* Read a finite decimal number, [+-] digits [. digits] [e [+-] digits], as the double nearest to it: 1 read, 0 it is
 * none, -1 no memory.  An integer up to 2^53 times or over a power of ten up to 10^22 is correctly rounded (Clinger 1990). */
static inline int read_number(Slice text, double *value, PyThreadState **unlocked) {
    return read_usual(text, value) ? 1 : read_unusual(text, value, unlocked);
}

#endif
