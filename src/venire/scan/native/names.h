/* A hash table of names: their numbers, and the names by number.  Copyright the Venire developers; Apache-2.0. */

#ifndef VENIRE_NAMES_H
#define VENIRE_NAMES_H

#include "bytes.h"

/* A name in the table, 16 bytes.  A short one is its bytes: eight of them, three more and the length.  Of a long one:
 * where its bytes begin, 40 bits, its length, 16 bits, and both ends of its hash. */
typedef struct {
    uint64_t word;
    uint32_t more, number; /* 1 and up, with the bit LONG_NAME if the name is long; 0 where there is none */
} Named;

enum { SHORT = 11, PLACE_BITS = 40, LENGTH_BITS = 16 };
#define LONG_NAME 0x80000000u
#define MOST_BYTES ((UINT64_C(1) << PLACE_BITS) - 1)
#define MOST_LENGTH ((UINT64_C(1) << LENGTH_BITS) - 1)

/* Distinct names, numbered as they come: their bytes one after the other, and where each ends. */
typedef struct {
    PyObject_HEAD
    Keys keys;
    Named *cells;
    size_t room; /* a power of two, more than 4/3 of the number of names */
    Array bytes, ends;
} Names;

static inline size_t n_names(const Names *self) { return self->ends.used / sizeof(int64_t); }

static inline Slice name_at(const Names *self, size_t number) {
    const int64_t *ends = (const int64_t *)self->ends.data;
    int64_t start = number ? ends[number - 1] : 0;
    return (Slice){self->bytes.data + start, (size_t)(ends[number] - start)};
}

/* The hash of a short name. */
static inline uint64_t hash_short(const Keys *keys, uint64_t word, uint32_t more) {
    return mix(keyed(keys, word, 0) + keyed(keys, more, 1));
}

/* Bytes of a word that a short name of each length has: from FULL + SHORT + 1 - length on. */
static const uint8_t FULL[2 * (SHORT + 1)] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
static const uint8_t LENGTH[SHORT + 1][4] = {{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, 2}, {0, 0, 0, 3}, {0, 0, 0, 4},
                                             {0, 0, 0, 5}, {0, 0, 0, 6}, {0, 0, 0, 7}, {0, 0, 0, 8}, {0, 0, 0, 9},
                                             {0, 0, 0, 10}, {0, 0, 0, 11}};

/* What a name looks like in the table, but for its number and place; and its hash.  padded: behind a short name, so
 * many bytes may be read that there are twelve. */
static inline Named entry_of(const Keys *keys, Slice name, int padded, uint64_t *hashed) {
    if (name.length <= SHORT) {
        char copy[SHORT + 1] = {0};
        if (!padded) memcpy(copy, name.at, name.length);
        const char *at = padded ? name.at : copy;
        const uint8_t *full = FULL + SHORT + 1 - name.length;
        uint64_t words[2];
        uint32_t ends[3];
        memcpy(words, at, 8);
        memcpy(words + 1, full, 8);
        memcpy(ends, at + 8, 4);
        memcpy(ends + 1, full + 8, 4);
        memcpy(ends + 2, LENGTH[name.length], 4);
        Named found = {words[0] & words[1], (ends[0] & ends[1]) | ends[2], 0};
        *hashed = hash_short(keys, found.word, found.more);
        return found;
    }
    *hashed = hash_exactly(keys, name);
    uint64_t length = name.length < MOST_LENGTH ? name.length : MOST_LENGTH;
    return (Named){(*hashed >> 56 << LENGTH_BITS | length) << PLACE_BITS, (uint32_t)*hashed, LONG_NAME};
}

/* Whether a cell that is filled has the name whose entry is given. */
static inline int is_name(const Names *self, const Named *cell, Named entry, Slice name) {
    if (cell->more != entry.more || (cell->number ^ entry.number) & LONG_NAME) return 0;
    if (!entry.number) return cell->word == entry.word;
    if ((cell->word ^ entry.word) >> PLACE_BITS) return 0;
    if (name.length >= MOST_LENGTH && name_at(self, (cell->number & ~LONG_NAME) - 1).length != name.length) return 0;
    return same_exactly(self->bytes.data + (cell->word & MOST_BYTES), name.at, name.length);
}

/* Move the names into a table of another size: 1 done, 0 no memory. */
int names_rehash(Names *self, size_t room);

/* The number of a name, which is added if it is new; -1 no memory, -2 too many. */
static inline int64_t number_of(Names *self, Slice name, Named entry, uint64_t hashed) {
    size_t at = hashed & (self->room - 1);
    for (; self->cells[at].number; at = (at + 1) & (self->room - 1)) {
        PROBED();
        if (is_name(self, &self->cells[at], entry, name)) return (int64_t)(self->cells[at].number & ~LONG_NAME) - 1;
    }
    size_t count = n_names(self), begin = self->bytes.used;
    if (count >= INT32_MAX - 1 || begin > MOST_BYTES) return -2;
    char *copy = grow(&self->bytes, name.length);
    int64_t *end = copy || !name.length ? grow(&self->ends, sizeof *end) : NULL;
    if (!end) {
        if (copy) self->bytes.used -= name.length;
        return -1;
    }
    if (name.length) memcpy(copy, name.at, name.length);
    *end = (int64_t)self->bytes.used;
    if (entry.number) entry.word |= begin;
    entry.number |= (uint32_t)count + 1;
    self->cells[at] = entry;
    if (4 * (count + 1) > 3 * self->room && !names_rehash(self, 2 * self->room)) return -1;
    return (int64_t)count;
}

/* The hash of a name by which the table has it: all of it if the name is short. */
static inline uint64_t hash_of(const Names *names, Named entry) {
    return entry.number ? entry.more : hash_short(&names->keys, entry.word, entry.more);
}

#endif
