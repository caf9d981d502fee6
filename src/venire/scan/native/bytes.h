/* Slices of bytes: their equality, their order and their keyed hash, eight bytes at a time.
 *
 * Behind most slices eight bytes may be read; functions named ``exactly`` read nothing behind theirs.
 * Copyright the Venire developers; Apache-2.0. */

#ifndef VENIRE_BYTES_H
#define VENIRE_BYTES_H

#include "memory.h"
#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#endif

typedef struct {
    const char *at;
    size_t length;
} Slice;

static inline uint64_t load(const char *p) {
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
}

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define WORDWISE 1 /* eight bytes at a time */
#else
#define WORDWISE 0
#endif

/* The first n < 8 bytes at p; 8 may be read. */
static inline uint64_t load_some(const char *p, size_t n) {
    if (WORDWISE) return n ? load(p) << (64 - 8 * n) : 0;
    uint64_t word = 0;
    memcpy(&word, p, n);
    return word;
}

/* Compare two slices behind which 8 bytes may be read. */
static inline int same(Slice a, Slice b) {
    if (a.length != b.length) return 0;
    const char *p = a.at, *q = b.at;
    size_t left = a.length;
    for (; left >= 8; left -= 8, p += 8, q += 8) {
        if (load(p) != load(q)) return 0;
    }
    return load_some(p, left) == load_some(q, left);
}

/* Order of bytes; a shorter slice stands before a longer one that begins with it.  8 bytes may be read behind both. */
static inline int compare(Slice a, Slice b) {
    size_t shorter = a.length < b.length ? a.length : b.length, n = 0;
#if WORDWISE
    for (; n + 8 <= shorter; n += 8) {
        uint64_t one = load(a.at + n), other = load(b.at + n);
        if (one != other) return __builtin_bswap64(one) > __builtin_bswap64(other) ? 1 : -1;
    }
#endif
    int order = memcmp(a.at + n, b.at + n, shorter - n);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

/* A word that the n < 8 bytes at p determine, and which determines them, given n; nothing is read behind them. */
static inline uint64_t tail(const char *p, size_t n) {
    if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, p, 4);
        memcpy(&last, p + n - 4, 4);
        return first | (uint64_t)last << 32;
    }
    const uint8_t *q = (const uint8_t *)p;
    return n ? q[0] | (uint32_t)q[n >> 1] << 8 | (uint32_t)q[n - 1] << 16 : 0;
}

/* Compare two slices of the same length behind which nothing may be read. */
static inline int same_exactly(const char *p, const char *q, size_t left) {
    for (; left >= 8; left -= 8, p += 8, q += 8) {
        if (load(p) != load(q)) return 0;
    }
    return tail(p, left) == tail(q, left);
}

/* ---- a keyed hash -------------------------------------------------------------------------------------------- */

enum { KEPT = 64 }; /* keys of ids up to 500 bytes are kept, those of longer ones computed */

typedef struct {
    uint64_t seed, kept[KEPT];
} Keys;

/* The key of the n-th word: splitmix64 (Steele, Lea and Flood 2014). */
static inline uint64_t make_key(uint64_t seed, size_t n) {
    uint64_t key = seed + ((uint64_t)n + 1) * 0x9E3779B97F4A7C15u;
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9u;
    key = (key ^ (key >> 27)) * 0x94D049BB133111EBu;
    return key ^ (key >> 31);
}

static inline uint64_t keyed(const Keys *keys, uint64_t word, size_t n) {
    uint64_t key = n < KEPT ? keys->kept[n] : make_key(keys->seed, n);
    return ((uint32_t)word + (key & UINT32_MAX)) * ((word >> 32) + (key >> 32));
}

/* Mix a sum once, so that every bit of it counts in a table. */
static inline uint64_t mix(uint64_t sum) {
    sum = (sum ^ (sum >> 32)) * 0x9E3779B97F4A7C15u;
    return sum ^ (sum >> 32);
}

/* NH (Black et al. 1999): two given ids have the same sum for at most one key in 2^32, whatever they are.  The length
 * is the first word; rest: makes the last one of fewer than 8 bytes. */
static inline uint64_t hash_by(const Keys *keys, Slice slice, uint64_t (*rest)(const char *, size_t)) {
    uint64_t sum = keyed(keys, slice.length, 0);
    const char *p = slice.at;
    size_t left = slice.length, n = 1;
    for (; left >= 8; left -= 8, p += 8, n++) sum += keyed(keys, load(p), n);
    return mix(sum + keyed(keys, rest(p, left), n));
}

/* The hash of a slice behind which 8 bytes may be read. */
static inline uint64_t hash(const Keys *keys, Slice slice) { return hash_by(keys, slice, load_some); }

/* The hash of a slice behind which nothing may be read. */
static inline uint64_t hash_exactly(const Keys *keys, Slice slice) { return hash_by(keys, slice, tail); }

/* The hash of one word. */
static inline uint64_t hash_word(const Keys *keys, uint64_t word) { return mix(keyed(keys, word, 0)); }

#endif
