/* Reading numbers with a plus sign, an exponent or many digits.  Copyright the Venire developers; Apache-2.0. */

#include "numbers.h"

/* An exponent that no number of digits behind the point brings back; larger ones need not be distinguished. */
#define BEYOND INT64_C(100000000000000000)

/* Read what Python's float would; for the few numbers that are long or far from 1.  Takes the lock for a moment.
 * 1 read, 0 not finite, -1 no memory. */
static int read_slowly(Slice text, double *value, PyThreadState **unlocked) {
    char *copy = malloc(text.length + 1);
    if (!copy) return -1;
    memcpy(copy, text.at, text.length);
    copy[text.length] = 0;
    PyEval_RestoreThread(*unlocked);
    *value = PyOS_string_to_double(copy, NULL, NULL);
    int failed = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError), wrong = PyErr_Occurred() != NULL;
    PyErr_Clear();
    *unlocked = PyEval_SaveThread();
    free(copy);
    if (failed) return -1;
    return !wrong && *value - *value == 0;
}

int read_unusual(Slice text, double *value, PyThreadState **unlocked) {
    const char *p = text.at, *end = text.at + text.length;
    int negative = *p == '-';
    p += negative || *p == '+';
    uint64_t mantissa = 0;
    size_t digits = 0, significant = 0;
    int64_t places = 0;
    int after_point = 0;
    for (; p < end; p++) {
        unsigned digit = (unsigned)(uint8_t)*p - '0';
        if (digit < 10) {
            significant += significant || digit;
            if (significant <= 19) mantissa = 10 * mantissa + digit;
            digits++;
            places += after_point;
        } else if (*p == '.' && !after_point) {
            after_point = 1;
        } else {
            break;
        }
    }
    if (!digits) return 0;
    int64_t exponent = 0;
    if (p < end) {
        if (*p != 'e' && *p != 'E') return 0;
        p++;
        int down = p < end && *p == '-';
        p += p < end && (*p == '-' || *p == '+');
        if (p == end) return 0;
        for (; p < end; p++) {
            if ((unsigned)(uint8_t)*p - '0' > 9) return 0;
            if (exponent < BEYOND) exponent = 10 * exponent + (*p - '0');
        }
        exponent = down ? -exponent : exponent;
    }
    exponent -= places;
    if (significant > 19 || mantissa > (uint64_t)1 << 53 || exponent < -22 || exponent > 22) {
        return read_slowly(text, value, unlocked);
    }
    double magnitude = exponent < 0 ? (double)mantissa / POWERS[-exponent] : (double)mantissa * POWERS[exponent];
    *value = negative ? -magnitude : magnitude;
    return 1;
}
