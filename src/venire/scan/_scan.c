/* Scanning run lines into the ranks of judged items: the compiled twin of scan/lists.py.
 *
 * One pass over the bytes.  A line is split into its six fields, or is a row of columns; a list is a stretch of lines
 * with the same topic and tag.  Each document is looked up in the small table of its topic's judged documents, found by
 * hash and verified byte by byte, and noted in a table of the list's own documents, so that none passes twice.  When a
 * list ends, its judged documents are ranked: most lists are in order already; else, and where a judged document ties,
 * only judged documents are sorted, and every other one is counted before the first of them that it precedes.
 *
 * The interpreter lock is released while lines are scanned, and taken now and then to handle signals.  Lengths are of
 * type size_t; numbers of lists, documents and items have 32 bits, and the constructor's limits keep them below 2^31.
 * Written against the stable ABI: one build serves every Python from 3.11 on; setup.py says which builds are not.
 * Copyright the Venire developers; Apache-2.0. */

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif
#include <Python.h> /* no format has '#': its meaning before Python 3.13 depends on the headers of the build */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_ATOMICS__)
#include <stdatomic.h>
typedef atomic_int Flag;
#else
typedef volatile int Flag;
#endif
#ifndef PROBED
#define PROBED() ((void)0) /* a test build counts how often it is passed */
#endif

/* ---- bytes --------------------------------------------------------------------------------------------------- */

enum { TEXT, BLANK, END, CONTROL };

#define SIX CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL
static const uint8_t kind_of[256] = {SIX, CONTROL, CONTROL, CONTROL, BLANK, END, BLANK, BLANK, BLANK, SIX, SIX, SIX, BLANK};

static inline int kind(const char *p) { return kind_of[(uint8_t)*p]; }

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

/* ---- a keyed hash -------------------------------------------------------------------------------------------- */

enum { KEPT = 64 }; /* keys of ids up to 500 bytes are kept, those of longer ones computed */

typedef struct {
    uint64_t seed, kept[KEPT];
} Keys;

/* The key of the n-th word: splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t make_key(uint64_t seed, size_t n) {
    uint64_t key = seed + ((uint64_t)n + 1) * 0x9E3779B97F4A7C15u;
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9u;
    key = (key ^ (key >> 27)) * 0x94D049BB133111EBu;
    return key ^ (key >> 31);
}

static inline uint64_t keyed(const Keys *keys, uint64_t word, size_t n) {
    uint64_t key = n < KEPT ? keys->kept[n] : make_key(keys->seed, n);
    return ((uint32_t)word + (key & UINT32_MAX)) * ((word >> 32) + (key >> 32));
}

/* NH (Black et al. 1999): two given ids have the same sum for at most one key in 2^32, whatever they are.  The length
 * is the first word.  The sum is mixed once, so that every bit of it counts in the table. */
static inline uint64_t hash(const Keys *keys, Slice slice) {
    uint64_t mixed = keyed(keys, slice.length, 0);
    const char *p = slice.at;
    size_t left = slice.length, n = 1;
    for (; left >= 8; left -= 8, p += 8, n++) mixed += keyed(keys, load(p), n);
    mixed += keyed(keys, load_some(p, left), n);
    mixed = (mixed ^ (mixed >> 32)) * 0x9E3779B97F4A7C15u;
    return mixed ^ (mixed >> 32);
}

/* Where the text at p ends: at the first byte up to a space.  Looks at no byte from ``limit`` on. */
static inline const char *text_end(const char *p, const char *limit) {
#if WORDWISE
    for (; limit - p >= 8; p += 8) {
        uint64_t word = load(p), low = (word - 0x2121212121212121u) & ~word & 0x8080808080808080u;
        if (low) return p + (__builtin_ctzll(low) >> 3);
    }
#else
    (void)limit;
#endif
    while (kind(p) == TEXT) p++;
    return p;
}

/* ---- growing arrays ------------------------------------------------------------------------------------------ */

typedef struct {
    char *data;
    size_t used, room; /* in bytes */
} Array;

static void *grow(Array *array, size_t size) {
    if (size > array->room - array->used) {
        if (array->room > (SIZE_MAX - 4096 - size) / 2) return NULL;
        size_t room = (array->room ? 2 * array->room : 4096) + size;
        char *data = realloc(array->data, room);
        if (!data) return NULL;
        array->data = data;
        array->room = room;
    }
    array->used += size;
    return array->data + array->used - size;
}

static int push(Array *array, int32_t value) {
    int32_t *place = grow(array, sizeof value);
    if (place) *place = value;
    return place != NULL;
}

/* ---- numbers ------------------------------------------------------------------------------------------------- */

static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

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

/* Read a finite decimal number, [+-] digits [. digits] [e [+-] digits], as the double nearest to it: 1 read, 0 it is
 * none, -1 no memory.  An integer up to 2^53 times or over a power of ten up to 10^22 is correctly rounded (Clinger 1990). */
static int read_number(Slice text, double *value, PyThreadState **unlocked) {
    if (read_usual(text, value)) return 1;
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

/* ---- the scanner: what is looked for, and the rules ----------------------------------------------------------- */

typedef struct {
    uint32_t tag;    /* the upper half of the hash */
    uint32_t number; /* from 1; 0: empty */
} Cell;

typedef struct {
    Cell *cells; /* of one topic; none if it has no items */
    uint32_t mask;
} Table;

typedef struct {
    PyObject_HEAD
    Py_buffer topic_bytes, doc_bytes; /* held as long as the slices into them */
    Slice *topics, *docs;
    Cell *cells;
    Table by_name, *by_topic; /* the topics, and the items of each */
    size_t n_topics, n_items;
    int by_rank, single_precision, keep_first;
    long long longest_line, most_lines;
    Keys keys;
    Flag stopped;
} Scanner;

static void enter(Table table, uint64_t mixed, size_t number) {
    uint32_t place = (uint32_t)mixed & table.mask;
    for (; table.cells[place].number; place = (place + 1) & table.mask) PROBED();
    table.cells[place] = (Cell){(uint32_t)(mixed >> 32), (uint32_t)number + 1};
}

static inline int32_t find(Table table, const Slice *known, Slice wanted, uint64_t mixed) {
    if (!table.cells) return -1;
    uint32_t place = (uint32_t)mixed & table.mask, tag = (uint32_t)(mixed >> 32);
    for (; table.cells[place].number; place = (place + 1) & table.mask) {
        PROBED();
        if (table.cells[place].tag == tag && same(known[table.cells[place].number - 1], wanted)) {
            return (int32_t)(table.cells[place].number - 1);
        }
    }
    return -1;
}

/* Cells for so many entries, less than 2^31. */
static uint64_t room_for(size_t count) {
    uint64_t room = 2;
    while (room < 2 * (uint64_t)count) room *= 2;
    return count ? room : 0;
}

/* ---- one scan ------------------------------------------------------------------------------------------------ */

typedef struct {
    Slice doc;
    double score;
    uint64_t mixed;
    int32_t item;
} Entry;

typedef struct {
    uint32_t list, entry; /* both less than 2^31; whose document this is; entries of other lists than the current one are ignored */
} Seen;

typedef struct {
    const Scanner *scanner;
    const char *data;
    Array entries, hits, ranks, spare, scores;    /* of the current list; hits: the entries that are judged */
    Seen *seen;                                   /* documents of the current list, by hash */
    size_t seen_room;                             /* a power of two */
    uint32_t list;                                /* number of the current list, from 1 */
    Array names, topic, depth, level, owner, rank, item; /* what is found; names: Slices, topic and tag of each list */
    Slice at_topic, at_tag;
    int32_t topic_number;
    int out_of_order, uneven;
    int64_t n_lines, work; /* work: what was done besides since signals were handled */
    const char *fault;
    int64_t fault_line, fault_detail;
    PyThreadState *unlocked;
} Scan;

enum { AT_ONCE = 1 << 23 }; /* bytes scanned between two looks for signals: more than most chunks, 10 to 300 ms */

/* Handle signals: 1 done, 0 the scan is to end, and the exception is set. */
static int handle_signals(Scan *scan) {
    scan->work = 0;
    PyEval_RestoreThread(scan->unlocked);
    int stopped = scan->scanner->stopped;
    if (stopped) PyErr_SetString(PyExc_RuntimeError, "the scan was stopped");
    int failed = stopped || PyErr_CheckSignals() < 0;
    scan->unlocked = PyEval_SaveThread();
    return !failed;
}

/* Count what was done besides the scan of lines, in steps that take as long as so many bytes: 0 if it is to end. */
static inline int did(Scan *scan, size_t work) {
    scan->work += (int64_t)work;
    return scan->work < AT_ONCE || handle_signals(scan);
}

static inline size_t n_entries(const Scan *scan) { return scan->entries.used / sizeof(Entry); }

enum { FAST = 1 << 16 }; /* documents of a list whose table stays in the cache; with more, each takes longer */

/* Make room in the table of documents seen: 1 done, 0 no memory, or the scan is to end. */
static int widen(Scan *scan) {
    size_t room = scan->seen_room ? 2 * scan->seen_room : 4096;
    Seen *seen = calloc(room, sizeof *seen);
    if (!seen) return 0;
    const Entry *entries = (const Entry *)scan->entries.data;
    for (size_t n = 0; n < n_entries(scan); n++) {
        size_t place = entries[n].mixed & (room - 1);
        for (; seen[place].list; place = (place + 1) & (room - 1)) PROBED();
        seen[place] = (Seen){scan->list, (uint32_t)n};
        if (!did(scan, 16)) return free(seen), 0;
    }
    free(scan->seen);
    scan->seen = seen;
    scan->seen_room = room;
    return 1;
}

/* Add a document to the current list: 1 done, 0 it was there before, -1 no memory, or the scan is to end. */
static inline int add(Scan *scan, Slice doc, double score) {
    size_t count = n_entries(scan);
    if (2 * count >= scan->seen_room && !widen(scan)) return -1;
    if (count >= FAST && !did(scan, 64)) return -1;
    const Scanner *scanner = scan->scanner;
    Entry *entries = (Entry *)scan->entries.data;
    uint64_t mixed = hash(&scanner->keys, doc);
    size_t place = mixed & (scan->seen_room - 1);
    for (; scan->seen[place].list == scan->list; place = (place + 1) & (scan->seen_room - 1)) {
        PROBED();
        const Entry *other = &entries[scan->seen[place].entry];
        if (other->mixed == mixed && same(other->doc, doc)) return 0;
    }
    int32_t item = scan->topic_number < 0 ? -1 : find(scanner->by_topic[scan->topic_number], scanner->docs, doc, mixed);
    if (count) {
        scan->out_of_order |= score > entries[count - 1].score;
        scan->uneven |= score != entries[count - 1].score;
    }
    Entry *entry = grow(&scan->entries, sizeof *entry);
    if (!entry) return -1;
    *entry = (Entry){doc, score, mixed, item};
    if (item >= 0 && !push(&scan->hits, (int32_t)count)) return -1;
    scan->seen[place] = (Seen){scan->list, (uint32_t)count};
    return 1;
}

static inline int better(Scan *scan, const Entry *a, const Entry *b) {
    if (a->score != b->score) return a->score > b->score;
    scan->work += (int64_t)(a->doc.length < b->doc.length ? a->doc.length : b->doc.length);
    return compare(a->doc, b->doc) > 0;
}

/* Sort numbers of entries, best first: merge sort, in place of a stretch already in order nothing moves.
 * 1 done, 0 the scan is to end. */
static int sort(Scan *scan, uint32_t *order, uint32_t *spare, size_t count) {
    const Entry *entries = (const Entry *)scan->entries.data;
    if (count < 12) {
        for (size_t n = 1; n < count; n++) {
            uint32_t moved = order[n];
            size_t place = n;
            for (; place && better(scan, &entries[moved], &entries[order[place - 1]]); place--) {
                order[place] = order[place - 1];
            }
            order[place] = moved;
        }
        return did(scan, 64 * count);
    }
    size_t half = count / 2;
    if (!sort(scan, order, spare, half) || !sort(scan, order + half, spare, count - half)) return 0;
    if (!better(scan, &entries[order[half]], &entries[order[half - 1]])) return 1;
    memcpy(spare, order, half * sizeof *order);
    for (size_t left = 0, right = half, n = 0; left < half; n++) {
        int take = right < count && better(scan, &entries[order[right]], &entries[spare[left]]);
        order[n] = take ? order[right++] : spare[left++];
        if (!did(scan, 16)) return 0;
    }
    return 1;
}

/* How many of some scores, in descending order, are greater than one: n > 0. */
static inline size_t n_greater(const double *scores, size_t n, double score) {
    const double *from = scores;
    for (size_t half; n > 1; n -= half) {
        half = n / 2;
        from = from[half - 1] > score ? from + half : from;
    }
    return (size_t)(from - scores) + (*from > score);
}

/* How many of the hits, best first, are better than an entry; scores: theirs, n > 0. */
static inline size_t n_better(Scan *scan, const uint32_t *hits, const double *scores, size_t n, const Entry *entry) {
    const Entry *entries = (const Entry *)scan->entries.data;
    size_t low = n_greater(scores, n, entry->score);
    if (low == n || scores[low] != entry->score) return low;
    size_t high = low + 1;
    for (size_t step = 1; high < n && scores[high] == entry->score; step *= 2) high = n - high > step ? high + step : n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (better(scan, &entries[hits[middle]], entry)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Rank hits among the entries from first up to last, before which there are first better ones: sort them, best first, and
 * count for each the entries up to it.  1 done, 0 no memory, or the scan is to end. */
static int rank_among(Scan *scan, size_t first, size_t last, uint32_t *hits, size_t n, int32_t *ranks) {
    const Entry *entries = (const Entry *)scan->entries.data;
    scan->spare.used = scan->scores.used = 0;
    uint32_t *spare = grow(&scan->spare, n * sizeof *spare);
    double *scores = grow(&scan->scores, n * sizeof *scores);
    if (!spare || !scores || !sort(scan, hits, spare, n)) return 0;
    for (size_t hit = 0; hit < n; hit++) scores[hit] = entries[hits[hit]].score;
    memset(ranks, 0, n * sizeof *ranks);
    for (size_t entry = first; entry < last; entry++) {
        size_t place = n_better(scan, hits, scores, n, &entries[entry]);
        if (place < n) ranks[place]++;
        if (!did(scan, 16)) return 0;
    }
    ranks[0] += (int32_t)first;
    for (size_t hit = 1; hit < n; hit++) ranks[hit] += ranks[hit - 1];
    return 1;
}

/* Rank the hits of the current list, best first; in a list that is in order, only those that tie are sorted.  The ranks;
 * or NULL: no memory, or the scan is to end. */
static const int32_t *ranked(Scan *scan, size_t n) {
    const Entry *entries = (const Entry *)scan->entries.data;
    size_t count = n_entries(scan);
    uint32_t *hits = (uint32_t *)scan->hits.data;
    scan->ranks.used = 0;
    int32_t *ranks = grow(&scan->ranks, n * sizeof *ranks);
    if (!ranks) return NULL;
    if (scan->out_of_order) return rank_among(scan, 0, count, hits, n, ranks) ? ranks : NULL;
    for (size_t hit = 0, next; hit < n; hit = next) {
        size_t first = hits[hit], last = first + 1;
        double score = entries[first].score;
        while (first && entries[first - 1].score == score) first--;
        while (last < count && entries[last].score == score) last++;
        for (next = hit + 1; next < n && hits[next] < last;) next++;
        if (last == first + 1) {
            ranks[hit] = (int32_t)last;
        } else if (!rank_among(scan, first, last, hits + hit, next - hit, ranks + hit)) {
            return NULL;
        }
    }
    return ranks;
}

/* Close the current list: note its depth and the ranks of its judged items, and clear its documents.  1 done, 0 no
 * memory, or the scan is to end. */
static int close_list(Scan *scan) {
    size_t count = n_entries(scan);
    Slice *names = scan->at_topic.at ? grow(&scan->names, 2 * sizeof *names) : NULL;
    if (!scan->at_topic.at) return 1;
    if (!names || !push(&scan->topic, scan->topic_number) || !push(&scan->depth, (int32_t)count)) return 0;
    if (!push(&scan->level, count > 1 && !scan->uneven)) return 0;
    names[0] = scan->at_topic;
    names[1] = scan->at_tag;
    size_t n_hits = scan->hits.used / sizeof(uint32_t);
    const int32_t *ranks = n_hits ? ranked(scan, n_hits) : NULL;
    if (n_hits && !ranks) return 0;
    const Entry *entries = (const Entry *)scan->entries.data;
    const uint32_t *hits = (const uint32_t *)scan->hits.data;
    int32_t owner = (int32_t)(scan->topic.used / sizeof(int32_t)) - 1;
    for (size_t n = 0; n < n_hits; n++) {
        int32_t item = entries[hits[n]].item;
        if (!did(scan, 16)) return 0;
        if (!push(&scan->owner, owner) || !push(&scan->rank, ranks[n]) || !push(&scan->item, item)) return 0;
    }
    scan->entries.used = scan->hits.used = 0;
    scan->list++;
    scan->out_of_order = scan->uneven = 0;
    return 1;
}

static int open_list(Scan *scan, Slice topic, Slice tag) {
    if (!close_list(scan)) return 0;
    if (!scan->at_topic.at || !same(topic, scan->at_topic)) {
        scan->topic_number = find(scan->scanner->by_name, scan->scanner->topics, topic,
                                  hash(&scan->scanner->keys, topic));
    }
    scan->at_topic = topic;
    scan->at_tag = tag;
    return 1;
}

static int faulty(Scan *scan, const char *fault, int64_t detail) {
    scan->fault = fault;
    scan->fault_line = scan->n_lines;
    scan->fault_detail = detail;
    return 1;
}

enum { TOPIC, QUESTION, DOC, RANK, SCORE, TAG, COLUMNS };

/* Compare tags; behind that of the last line there may be no 8 bytes to read. */
static inline int same_tag(Slice a, Slice b, const char *limit) {
    if (limit - a.at >= (ptrdiff_t)a.length + 8) return same(a, b);
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/* Split the line at p into fields: how many there are (at most COLUMNS are kept), or -1 at a control byte, which *stop
 * then points at; else *stop points at the end of the line. */
static inline int64_t split(const char *p, const char *limit, Slice *fields, const char **stop) {
    int64_t count = 0;
    for (;;) {
        while (kind(p) == BLANK) p++;
        const char *start = p;
        p = text_end(p, limit);
        if (p > start) {
            if (count < COLUMNS) fields[count] = (Slice){start, (size_t)(p - start)};
            count++;
        }
        if (kind(p) >= END) break;
    }
    *stop = p;
    return kind(p) == CONTROL ? -1 : count;
}

/* Split the line at p if it is as usual: six fields, one blank between them, a line end behind; 0 if it is not.
 * Sixteen bytes are looked at at a time, 64 in all. */
static inline int split_usual(const char *p, const char *limit, Slice *fields, const char **stop) {
#if defined(__SSE2__) && defined(__GNUC__)
    if (limit - p < 64) return 0;
    const __m128i space = _mm_set1_epi8(' ');
    uint64_t low = 0; /* a bit for each byte up to a space */
    for (int n = 0; n < 64; n += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(p + n));
        low |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes)) << n;
    }
    const char *start = p;
    for (int n = 0; n < COLUMNS; n++, low &= low - 1) {
        if (!low) return 0;
        const char *end = p + __builtin_ctzll(low);
        if (end == start || kind(end) != (n < TAG ? BLANK : END)) return 0;
        fields[n] = (Slice){start, (size_t)(end - start)};
        start = end + 1;
    }
    *stop = start - 1;
    return COLUMNS;
#else
    (void)p, (void)limit, (void)fields, (void)stop;
    return 0;
#endif
}

/* Scan all lines up to a limit: 1 done, or stopped at a fault; 0 no memory, or the scan is to end. */
static int scan_lines(Scan *scan, const void *end) {
    const Scanner *scanner = scan->scanner;
    const char *limit = end;
    const long long longest = scanner->longest_line;
    long long left = scanner->most_lines;
    Slice fields[COLUMNS];
    const char *stop, *looked = scan->data;
    for (const char *p = scan->data; p < limit; p = stop + 1, scan->n_lines++) {
        int comment = *p == '#';
        int64_t count = split_usual(p, limit, fields, &stop);
        if (!count) count = split(p, limit, fields, &stop);
        if (count < 0) return faulty(scan, "control", (uint8_t)*stop);
        if (stop - p > longest) return faulty(scan, "long", stop - p);
        if (stop - looked > AT_ONCE) {
            looked = stop;
            if (!handle_signals(scan)) return 0;
        }
        if (comment || !count) continue;
        if (count != COLUMNS) return faulty(scan, "columns", count);
        if (left-- == 0) return faulty(scan, "many", 0);
        double score;
        int read = read_number(fields[scanner->by_rank ? RANK : SCORE], &score, &scan->unlocked);
        if (read < 0) return 0;
        if (!read) return faulty(scan, scanner->by_rank ? "rank" : "score", 0);
        if (scanner->by_rank) score = -score;
        if (scanner->single_precision) score = (float)score;
        int same_list = scan->at_topic.at && same(fields[TOPIC], scan->at_topic) &&
                        same_tag(fields[TAG], scan->at_tag, limit);
        if (!same_list && !open_list(scan, fields[TOPIC], fields[TAG])) return 0;
        int added = add(scan, fields[DOC], score);
        if (added < 0) return 0;
        if (!added && !scanner->keep_first) return faulty(scan, "twice", 0);
    }
    return close_list(scan);
}

/* ---- Python: what is found ------------------------------------------------------------------------------------ */

enum { ITEMS_AT_ONCE = 1 << 16 }; /* between two looks for signals, where the lock is held */

static inline int interrupted(size_t n) { return n % ITEMS_AT_ONCE == ITEMS_AT_ONCE - 1 && PyErr_CheckSignals() < 0; }

static PyObject *as_bytes(const Array *array) {
    return PyBytes_FromStringAndSize(array->data, (Py_ssize_t)array->used);
}

/* Names of the lists, every second from the first on: topics from 0, tags from 1. */
static PyObject *names_from(const Scan *scan, size_t first) {
    const Slice *names = (const Slice *)scan->names.data;
    size_t count = scan->names.used / (2 * sizeof *names);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t n = 0; list && n < count; n++) {
        Slice name = names[2 * n + first];
        PyObject *text = PyBytes_FromStringAndSize(name.at, (Py_ssize_t)name.length);
        if (!text || PyList_SetItem(list, (Py_ssize_t)n, text) < 0 || interrupted(n)) Py_CLEAR(list);
    }
    return list;
}

static PyObject *fault_of(const Scan *scan) {
    if (!scan->fault) return Py_NewRef(Py_None);
    return Py_BuildValue("(LsL)", (long long)scan->fault_line, scan->fault, (long long)scan->fault_detail);
}

/* Put a new value, or none after an error, into a tuple: 1 done, 0 the error. */
static int put(PyObject *tuple, Py_ssize_t place, PyObject *value) {
    return value && PyTuple_SetItem(tuple, place, value) == 0;
}

static PyObject *result_of(const Scan *scan) {
    const Array *numbers[] = {&scan->topic, &scan->depth, &scan->level, &scan->owner, &scan->rank, &scan->item};
    PyObject *result = PyTuple_New(10);
    int whole = result && put(result, 0, names_from(scan, 0)) && put(result, 1, names_from(scan, 1));
    for (Py_ssize_t n = 0; whole && n < 6; n++) whole = put(result, n + 2, as_bytes(numbers[n]));
    whole = whole && put(result, 8, PyLong_FromLongLong(scan->n_lines)) && put(result, 9, fault_of(scan));
    if (!whole) Py_CLEAR(result);
    return result;
}

/* Scan lines or rows by a function, without the lock, and return what is found. */
static PyObject *scan_by(int (*function)(Scan *, const void *), PyObject *self, const char *data, const void *end) {
    Scan scan = {.scanner = (const Scanner *)self, .data = data, .topic_number = -1, .list = 1};
    scan.unlocked = PyEval_SaveThread();
    int done = (!scan.scanner->stopped || handle_signals(&scan)) && function(&scan, end);
    PyEval_RestoreThread(scan.unlocked);
    PyObject *result = done ? result_of(&scan) : PyErr_Occurred() ? NULL : PyErr_NoMemory();
    Array *arrays[] = {&scan.entries, &scan.hits,  &scan.ranks, &scan.spare, &scan.scores, &scan.names,
                       &scan.topic,   &scan.depth, &scan.level, &scan.owner,  &scan.rank,   &scan.item};
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++) free(arrays[n]->data);
    free(scan.seen);
    return result;
}

static PyObject *scanner_scan(PyObject *self, PyObject *data) {
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(data, &bytes, &size) < 0) return NULL;
    if (size && bytes[size - 1] != '\n') {
        PyErr_SetString(PyExc_ValueError, "the last line has no line end");
        return NULL;
    }
    return scan_by(scan_lines, self, bytes, bytes + size);
}

static PyObject *scanner_stop(PyObject *self, PyObject *nothing) {
    (void)nothing;
    ((Scanner *)self)->stopped = 1;
    return Py_NewRef(Py_None);
}

/* ---- Python: what is looked for ------------------------------------------------------------------------------- */

enum { PADDING = 8 }; /* bytes that may be read behind the last slice */

/* A one-dimensional contiguous array of numbers of a type, named by its codes in the struct module: 1 done, 0 the
 * error.  The view is to be released then. */
static int view_of(PyObject *object, const char *name, const char *codes, Py_ssize_t size, Py_buffer *view) {
    if (PyObject_GetBuffer(object, view, PyBUF_ND | PyBUF_FORMAT) < 0) {
        if (PyErr_ExceptionMatches(PyExc_BufferError)) PyErr_Format(PyExc_ValueError, "%s is not contiguous", name);
        return 0;
    }
    const char *format = view->format ? view->format : "B";
    if (view->ndim == 1 && view->itemsize == size && format[0] && !format[1] && strchr(codes, format[0])) return 1;
    const char *type = *codes == 'd' ? "numbers" : "integers";
    PyErr_Format(PyExc_TypeError, "%s is not a one-dimensional array of %zd-byte %s", name, size, type);
    PyBuffer_Release(view);
    return 0;
}

static int bytes_of(PyObject *object, const char *name, Py_buffer *view) {
    if (!view_of(object, name, "B", 1, view)) return 0;
    if (view->len >= PADDING) return 1;
    PyErr_Format(PyExc_ValueError, "%s does not end in %d bytes of padding", name, PADDING);
    return 0;
}

static int integers_of(PyObject *object, const char *name, size_t size, Py_buffer *view) {
    return view_of(object, name, size == 8 ? "lq" : "il", (Py_ssize_t)size, view);
}

/* Slices where they are: padded bytes, and two arrays of int64 that say where each begins and ends. */
typedef struct {
    const char *bytes;
    Py_buffer start, end;
    size_t count;
} Places;

static void leave(Places *places) {
    PyBuffer_Release(&places->end);
    PyBuffer_Release(&places->start);
}

static inline Slice slice_at(const Places *places, size_t n) {
    int64_t from = ((const int64_t *)places->start.buf)[n], to = ((const int64_t *)places->end.buf)[n];
    return (Slice){places->bytes + from, (size_t)(to - from)};
}

/* Find slices, all within the bytes: 1 done, 0 the error.  They are to be left then. */
static int places_of(const Py_buffer *bytes, PyObject *start, PyObject *end, Places *places) {
    if (!integers_of(start, "start", sizeof(int64_t), &places->start)) return 0;
    if (!integers_of(end, "end", sizeof(int64_t), &places->end)) return PyBuffer_Release(&places->start), 0;
    size_t n = 0, count = (size_t)places->start.len / sizeof(int64_t);
    places->bytes = bytes->buf;
    places->count = count;
    if (bytes->len < PADDING) {
        PyErr_SetString(PyExc_ValueError, "buffer does not end in padding");
    } else if (places->start.len != places->end.len || count >= INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, count < INT32_MAX ? "start and end differ in length" : "too many slices");
    } else {
        for (; n < count; n++) {
            int64_t from = ((const int64_t *)places->start.buf)[n], to = ((const int64_t *)places->end.buf)[n];
            if (from < 0 || to < from || to > bytes->len - PADDING) break;
        }
        if (n == count) return 1;
        PyErr_Format(PyExc_ValueError, "slice %zu is not within the bytes", n);
    }
    leave(places);
    return 0;
}

/* Make slices of padded bytes and two arrays of int64, start and end. */
static Slice *slices_of(const Py_buffer *bytes, PyObject *start, PyObject *end, size_t *count) {
    Places places;
    if (!places_of(bytes, start, end, &places)) return NULL;
    Slice *slices = calloc(places.count + 1, sizeof *slices);
    if (!slices) PyErr_NoMemory();
    for (size_t n = 0; slices && n < places.count; n++) slices[n] = slice_at(&places, n);
    *count = places.count;
    leave(&places);
    return slices;
}

/* Rows of a run in columns: topic, tag and document, with padded bytes, and the score. */
typedef struct {
    Py_buffer bytes[3], score;
    Places text[3];
} Rows;

/* Scan all rows: as scan_lines. */
static int scan_rows(Scan *scan, const void *all) {
    const Rows *rows = all;
    const double *score = rows->score.buf;
    for (size_t n = 0; n < rows->text[0].count; n++, scan->n_lines++) {
        Slice topic = slice_at(&rows->text[0], n), tag = slice_at(&rows->text[1], n);
        int same_list = scan->at_topic.at && same(topic, scan->at_topic) && same(tag, scan->at_tag);
        if (!same_list && !open_list(scan, topic, tag)) return 0;
        int added = add(scan, slice_at(&rows->text[2], n), score[n]);
        if (added < 0 || !did(scan, 64)) return 0;
        if (!added && !scan->scanner->keep_first) return faulty(scan, "twice", 0);
    }
    return close_list(scan);
}

static void release_rows(Rows *rows) {
    for (size_t n = 0; n < 3; n++) {
        if (rows->text[n].end.obj) leave(&rows->text[n]);
        if (rows->bytes[n].obj) PyBuffer_Release(&rows->bytes[n]);
    }
    if (rows->score.obj) PyBuffer_Release(&rows->score);
}

/* Find the columns of rows, all of the same length: 1 done, 0 the error. */
static int rows_of(PyObject *const *columns, PyObject *score, Rows *rows) {
    for (size_t n = 0; n < 3; n++) {
        const char *const names[] = {"topic", "system", "doc"};
        PyObject *const *column = columns + 3 * n;
        if (!bytes_of(column[0], names[n], &rows->bytes[n])) return 0;
        if (!places_of(&rows->bytes[n], column[1], column[2], &rows->text[n])) return 0;
    }
    if (!view_of(score, "score", "d", sizeof(double), &rows->score)) return 0;
    size_t count = (size_t)rows->score.len / sizeof(double);
    if (rows->text[0].count == count && rows->text[1].count == count && rows->text[2].count == count) return 1;
    PyErr_SetString(PyExc_ValueError, "the columns differ in length");
    return 0;
}

static PyObject *scanner_scan_rows(PyObject *self, PyObject *args) {
    PyObject *columns[9], *score;
    if (!PyArg_ParseTuple(args, "OOOOOOOOOO:scan_rows", &columns[0], &columns[1], &columns[2], &columns[3], &columns[4],
                          &columns[5], &columns[6], &columns[7], &columns[8], &score)) {
        return NULL;
    }
    Rows rows = {0};
    PyObject *result = rows_of(columns, score, &rows) ? scan_by(scan_rows, self, NULL, &rows) : NULL;
    release_rows(&rows);
    return result;
}

/* Count the items of each topic: 1 done, 0 the error. */
static int count_items(const Scanner *self, const Py_buffer *topic_of, uint32_t *count) {
    if ((size_t)topic_of->len / sizeof(int32_t) != self->n_items) {
        PyErr_SetString(PyExc_ValueError, "item_topic and the documents differ in length");
        return 0;
    }
    for (size_t n = 0; n < self->n_items; n++) {
        int32_t topic = ((const int32_t *)topic_of->buf)[n];
        if (topic < 0 || (size_t)topic >= self->n_topics) {
            PyErr_Format(PyExc_ValueError, "item %zu has topic %d of %zu", n, (int)topic, self->n_topics);
            return 0;
        }
        count[topic]++;
    }
    return 1;
}

/* Fill the tables: the topics by name, and the items of each topic, all in one stretch of cells.  1 done, 0 the
 * error. */
static int fill_tables(Scanner *self, const int32_t *topic_of, const uint32_t *count) {
    uint64_t total = room_for(self->n_topics);
    for (size_t n = 0; n < self->n_topics; n++) total += room_for(count[n]);
    Cell *cells = self->cells = total < SIZE_MAX ? calloc((size_t)total + 1, sizeof *cells) : NULL;
    self->by_topic = calloc(self->n_topics + 1, sizeof *self->by_topic);
    if (!cells || !self->by_topic) return PyErr_NoMemory(), 0;
    if (self->n_topics) self->by_name = (Table){cells, (uint32_t)(room_for(self->n_topics) - 1)};
    cells += room_for(self->n_topics);
    for (size_t n = 0; n < self->n_topics; n++) {
        if (count[n]) self->by_topic[n] = (Table){cells, (uint32_t)(room_for(count[n]) - 1)};
        cells += room_for(count[n]);
    }
    for (size_t n = 0; n < self->n_topics; n++) {
        enter(self->by_name, hash(&self->keys, self->topics[n]), n);
        if (interrupted(n)) return 0;
    }
    for (size_t n = 0; n < self->n_items; n++) {
        enter(self->by_topic[topic_of[n]], hash(&self->keys, self->docs[n]), n);
        if (interrupted(n)) return 0;
    }
    return 1;
}

static int index_items(Scanner *self, PyObject *item_topic) {
    Py_buffer topic_of;
    if (!integers_of(item_topic, "item_topic", sizeof(int32_t), &topic_of)) return 0;
    uint32_t *count = calloc(self->n_topics + 1, sizeof *count);
    if (!count) PyErr_NoMemory();
    int done = count && count_items(self, &topic_of, count) && fill_tables(self, topic_of.buf, count);
    free(count);
    PyBuffer_Release(&topic_of);
    return done;
}

/* Read an integer from 1 to a limit: 1 done, 0 the error. */
static int limit_of(PyObject *object, const char *name, long long largest, long long *value) {
    int overflow = 0;
    *value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (*value == -1 && !overflow && PyErr_Occurred()) return 0;
    if (!overflow && *value >= 1 && *value <= largest) return 1;
    PyErr_Format(PyExc_ValueError, "%s is not from 1 to %lld", name, largest);
    return 0;
}

static int keys_of(PyObject *seed, Keys *keys) {
    keys->seed = PyLong_AsUnsignedLongLong(seed);
    if (PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError)) PyErr_SetString(PyExc_ValueError, "seed is not of 64 bits");
        return 0;
    }
    for (size_t n = 0; n < KEPT; n++) keys->kept[n] = make_key(keys->seed, n);
    return 1;
}

static PyObject *scanner_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *topic_bytes, *topic_start, *topic_end, *item_topic, *doc_bytes, *doc_start, *doc_end;
    PyObject *by_rank, *single_precision, *keep_first, *longest_line, *most_lines, *seed;
    if (keywords && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "Scanner takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OOOOOOOO!O!O!OOO:Scanner", &topic_bytes, &topic_start, &topic_end, &item_topic,
                          &doc_bytes, &doc_start, &doc_end, &PyBool_Type, &by_rank, &PyBool_Type, &single_precision,
                          &PyBool_Type, &keep_first, &longest_line, &most_lines, &seed)) {
        return NULL;
    }
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Scanner *self = (Scanner *)alloc(type, 0);
    if (!self) return NULL;
    self->by_rank = by_rank == Py_True;
    self->single_precision = single_precision == Py_True;
    self->keep_first = keep_first == Py_True;
    if (limit_of(longest_line, "longest_line", 1 << 30, &self->longest_line) &&
        limit_of(most_lines, "most_lines", INT32_MAX, &self->most_lines) && keys_of(seed, &self->keys) &&
        bytes_of(topic_bytes, "topic_bytes", &self->topic_bytes) && bytes_of(doc_bytes, "doc_bytes", &self->doc_bytes) &&
        (self->topics = slices_of(&self->topic_bytes, topic_start, topic_end, &self->n_topics)) &&
        (self->docs = slices_of(&self->doc_bytes, doc_start, doc_end, &self->n_items)) && index_items(self, item_topic)) {
        return (PyObject *)self;
    }
    Py_DECREF(self);
    return NULL;
}

static void scanner_dealloc(PyObject *object) {
    Scanner *self = (Scanner *)object;
    PyTypeObject *type = Py_TYPE(object);
    free(self->topics);
    free(self->docs);
    free(self->cells);
    free(self->by_topic);
    if (self->topic_bytes.obj) PyBuffer_Release(&self->topic_bytes);
    if (self->doc_bytes.obj) PyBuffer_Release(&self->doc_bytes);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef scanner_methods[] = {
    {"scan", scanner_scan, METH_O, "Scan the bytes of whole lists."},
    {"scan_rows", scanner_scan_rows, METH_VARARGS, "Scan rows of whole lists, in columns."},
    {"stop", scanner_stop, METH_NOARGS, "End the scans of all threads soon; each raises RuntimeError."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot scanner_slots[] = {
    {Py_tp_doc, "What a scan looks for, and the rules it goes by."},
    {Py_tp_new, scanner_new},
    {Py_tp_dealloc, scanner_dealloc},
    {Py_tp_methods, scanner_methods},
    {0, NULL},
};

static PyType_Spec scanner_spec = {"venire.scan._scan.Scanner", sizeof(Scanner), 0, Py_TPFLAGS_DEFAULT, scanner_slots};

/* ---- names: columns of text to codes ---------------------------------------------------------------------------- */

/* The Arrow C data interface: what any library of data frames hands over, without a copy (arrow.apache.org, "The Arrow
 * C data interface" and "The Arrow C stream interface"). */

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

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

enum { AHEAD = 32 }; /* rows whose cells are fetched together */
#if defined(__GNUC__)
#define FETCH(p) __builtin_prefetch(p)
#else
#define FETCH(p) ((void)0)
#endif

static inline size_t n_names(const Names *self) { return self->ends.used / sizeof(int64_t); }

static inline Slice name_at(const Names *self, size_t number) {
    const int64_t *ends = (const int64_t *)self->ends.data;
    int64_t start = number ? ends[number - 1] : 0;
    return (Slice){self->bytes.data + start, (size_t)(ends[number] - start)};
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

/* The hash of a slice behind which nothing may be read. */
static inline uint64_t hash_exactly(const Keys *keys, Slice slice) {
    uint64_t mixed = keyed(keys, slice.length, 0);
    const char *p = slice.at;
    size_t left = slice.length, n = 1;
    for (; left >= 8; left -= 8, p += 8, n++) mixed += keyed(keys, load(p), n);
    mixed += keyed(keys, tail(p, left), n);
    mixed = (mixed ^ (mixed >> 32)) * 0x9E3779B97F4A7C15u;
    return mixed ^ (mixed >> 32);
}

/* Compare two slices of the same length behind which nothing may be read. */
static inline int same_exactly(const char *p, const char *q, size_t left) {
    for (; left >= 8; left -= 8, p += 8, q += 8) {
        if (load(p) != load(q)) return 0;
    }
    return tail(p, left) == tail(q, left);
}

/* The hash of a short name. */
static inline uint64_t hash_short(const Keys *keys, uint64_t word, uint32_t more) {
    uint64_t mixed = keyed(keys, word, 0) + keyed(keys, more, 1);
    mixed = (mixed ^ (mixed >> 32)) * 0x9E3779B97F4A7C15u;
    return mixed ^ (mixed >> 32);
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

/* Ask for large pages, where the system has them: a table is read in no order. */
static void in_large_pages(void *start, size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    uintptr_t first = ((uintptr_t)start + 4095) & ~(uintptr_t)4095, end = (uintptr_t)start + size;
    if (size >= (size_t)1 << 23) (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)start, (void)size;
#endif
}

static int names_rehash(Names *self, size_t room) {
    Named *cells = room <= (uint64_t)UINT32_MAX + 1 ? calloc(room, sizeof *cells) : NULL;
    if (!cells) return 0;
    in_large_pages(cells, room * sizeof *cells);
    for (size_t n = 0; n < self->room; n++) {
        Named cell = self->cells[n];
        if (!cell.number) continue;
        size_t at = cell.number & LONG_NAME ? cell.more : (size_t)hash_short(&self->keys, cell.word, cell.more);
        for (at &= room - 1; cells[at].number;) at = (at + 1) & (room - 1);
        cells[at] = cell;
    }
    free(self->cells);
    self->cells = cells;
    self->room = room;
    return 1;
}

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

/* One row of a column of text of any layout: offsets of 32 or 64 bits, or views. */
static inline Slice text_at(const struct ArrowArray *array, char layout, int64_t row) {
    if (layout == 'v') {
        const char *view = (const char *)array->buffers[1] + 16 * row;
        int32_t length, buffer, offset;
        memcpy(&length, view, 4);
        if (length <= 12) return (Slice){view + 4, (size_t)length};
        memcpy(&buffer, view + 8, 4);
        memcpy(&offset, view + 12, 4);
        return (Slice){(const char *)array->buffers[2 + buffer] + offset, (size_t)length};
    }
    const char *bytes = array->buffers[2];
    if (layout == 'U') {
        const int64_t *ends = array->buffers[1];
        return (Slice){bytes + ends[row], (size_t)(ends[row + 1] - ends[row])};
    }
    const int32_t *ends = array->buffers[1];
    return (Slice){bytes + ends[row], (size_t)(ends[row + 1] - ends[row])};
}

/* Number at most AHEAD names, those without a place as -1: 1 done, -1 no memory, -2 too many names. */
static inline int number_names(Names *self, const Slice *name, size_t rows, int padded, int32_t *codes) {
    uint64_t hashed[AHEAD];
    Named entry[AHEAD];
    for (size_t n = 0; n < rows; n++) {
        if (!name[n].at) continue;
        entry[n] = entry_of(&self->keys, name[n], padded, &hashed[n]);
        FETCH(&self->cells[hashed[n] & (self->room - 1)]);
    }
    for (size_t n = 0; n < rows; n++) {
        if (!name[n].at || !entry[n].number) continue;
        const Named *cell = &self->cells[hashed[n] & (self->room - 1)];
        if (cell->number & LONG_NAME) FETCH(self->bytes.data + (cell->word & MOST_BYTES));
    }
    for (size_t n = 0; n < rows; n++) {
        int64_t number = name[n].at ? number_of(self, name[n], entry[n], hashed[n]) : INT64_C(-3);
        if (number == -1 || number == -2) return (int)number;
        codes[n] = number < 0 ? -1 : (int32_t)number;
    }
    return 1;
}

/* Number the rows of one array: as number_names. */
static int number_rows(void *names, const struct ArrowArray *array, char layout, void *codes) {
    const uint8_t *valid = array->null_count ? array->buffers[0] : NULL;
    Slice name[AHEAD];
    int done = 1;
    for (int64_t begin = 0; done == 1 && begin < array->length; begin += AHEAD) {
        int64_t rows = array->length - begin < AHEAD ? array->length - begin : AHEAD;
        for (int64_t n = 0; n < rows; n++) {
            int64_t row = array->offset + begin + n;
            int known = !valid || valid[row >> 3] >> (row & 7) & 1;
            name[n] = known ? text_at(array, layout, row) : (Slice){NULL, 0};
            if (known && !name[n].at) name[n].at = ""; /* an array of empty texts may have no bytes */
        }
        done = number_names(names, name, (size_t)rows, layout == 'v', (int32_t *)codes + begin);
    }
    return done;
}

/* The layout of a column of text, and its stream; 0 the error. */
static char text_layout(PyObject *capsule, struct ArrowArrayStream **stream) {
    *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!*stream) return 0;
    struct ArrowSchema schema = {0};
    if (!(*stream)->release || (*stream)->get_schema(*stream, &schema)) {
        return PyErr_SetString(PyExc_ValueError, "the column has no schema"), 0;
    }
    const char *format = schema.format;
    char layout = !strcmp(format, "vu") ? 'v' : !strcmp(format, "U") ? 'U' : !strcmp(format, "u") ? 'u' : 0;
    if (schema.release) schema.release(&schema);
    if (!layout) PyErr_SetString(PyExc_TypeError, "the column is not text");
    return layout;
}

/* Call a function with each array of a stream, and the place for what it finds, so many bytes a row: 1 done, 0 the
 * error.  It returns as number_names. */
static int for_arrays(struct ArrowArrayStream *stream, char layout,
                      int (*function)(void *, const struct ArrowArray *, char, void *), void *with, size_t size, Array *found) {
    for (;;) {
        struct ArrowArray array = {0};
        if (stream->get_next(stream, &array)) return PyErr_SetString(PyExc_ValueError, "the column cannot be read"), 0;
        if (!array.release) return 1;
        void *place = grow(found, (size_t)array.length * size);
        int done = array.length ? -1 : 1;
        if (place && array.length) {
            PyThreadState *unlocked = PyEval_SaveThread();
            done = function(with, &array, layout, place);
            PyEval_RestoreThread(unlocked);
        }
        array.release(&array);
        if (done == -1) return PyErr_NoMemory(), 0;
        if (done == -2) return PyErr_SetString(PyExc_OverflowError, "there are more than 2^31 names"), 0;
        if (PyErr_CheckSignals()) return 0;
    }
}

static PyObject *names_add(PyObject *object, PyObject *capsule) {
    struct ArrowArrayStream *stream;
    char layout = text_layout(capsule, &stream);
    Array codes = {0};
    PyObject *found = NULL;
    if (layout && for_arrays(stream, layout, number_rows, object, sizeof(int32_t), &codes)) {
        found = PyBytes_FromStringAndSize(codes.data, (Py_ssize_t)codes.used);
    }
    free(codes.data);
    return found;
}

static PyObject *names_add_slices(PyObject *object, PyObject *args) {
    PyObject *buffer, *start, *end, *found = NULL;
    Py_buffer bytes;
    Places places;
    int done = 1;
    if (!PyArg_ParseTuple(args, "OOO:add_slices", &buffer, &start, &end)) return NULL;
    if (!view_of(buffer, "buffer", "B", 1, &bytes)) return NULL;
    if (!places_of(&bytes, start, end, &places)) return PyBuffer_Release(&bytes), NULL;
    if ((found = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(places.count * sizeof(int32_t))))) {
        int32_t *codes = (int32_t *)PyBytes_AsString(found);
        Slice name[AHEAD];
        PyThreadState *unlocked = PyEval_SaveThread();
        for (size_t begin = 0; done == 1 && begin < places.count; begin += AHEAD) {
            size_t rows = places.count - begin < AHEAD ? places.count - begin : AHEAD;
            for (size_t n = 0; n < rows; n++) name[n] = slice_at(&places, begin + n);
            done = number_names((Names *)object, name, rows, 0, codes + begin);
        }
        PyEval_RestoreThread(unlocked);
    }
    if (done == -1) PyErr_NoMemory();
    if (done == -2) PyErr_SetString(PyExc_OverflowError, "there are more than 2^31 names");
    if (done != 1) Py_CLEAR(found);
    leave(&places);
    PyBuffer_Release(&bytes);
    return found;
}

static PyObject *names_all(PyObject *object, PyObject *nothing) {
    (void)nothing;
    Names *self = (Names *)object;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(self->bytes.used + PADDING));
    if (!bytes) return NULL;
    char *place = PyBytes_AsString(bytes);
    if (self->bytes.used) memcpy(place, self->bytes.data, self->bytes.used);
    memset(place + self->bytes.used, 0, PADDING);
    return Py_BuildValue("NN", bytes, PyBytes_FromStringAndSize(self->ends.data, (Py_ssize_t)self->ends.used));
}

static PyObject *names_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *seed;
    if ((keywords && PyDict_Size(keywords)) || !PyArg_ParseTuple(args, "O:Names", &seed)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "Names takes no keyword arguments");
        return NULL;
    }
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Names *self = (Names *)alloc(type, 0);
    if (!self) return NULL;
    if (keys_of(seed, &self->keys) && names_rehash(self, 64)) return (PyObject *)self;
    if (!PyErr_Occurred()) PyErr_NoMemory();
    Py_DECREF(self);
    return NULL;
}

static void names_dealloc(PyObject *object) {
    Names *self = (Names *)object;
    PyTypeObject *type = Py_TYPE(object);
    free(self->cells);
    free(self->bytes.data);
    free(self->ends.data);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef names_methods[] = {
    {"add", names_add, METH_O, "Number the rows of a column of text, an Arrow stream; int32, -1 for null."},
    {"add_slices", names_add_slices, METH_VARARGS, "Number slices of bytes, int64 start and end; int32."},
    {"all", names_all, METH_NOARGS, "The bytes of all names, with padding, and where each ends, int64."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot names_slots[] = {
    {Py_tp_doc, "Distinct names, numbered as they come."},
    {Py_tp_new, names_new},
    {Py_tp_dealloc, names_dealloc},
    {Py_tp_methods, names_methods},
    {0, NULL},
};

static PyType_Spec names_spec = {"venire.scan._scan.Names", sizeof(Names), 0, Py_TPFLAGS_DEFAULT, names_slots};

/* ---- rows in order ---------------------------------------------------------------------------------------------- */

enum { ROWS_TOGETHER = 1 << 15 }; /* so many keys of rows fit into a cache */

static inline int bits_of(uint64_t value) {
    int bits = 0;
    for (; value; value >>= 1) bits++;
    return bits;
}

static int by_key(const void *a, const void *b) {
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

static int by_narrow_key(const void *a, const void *b) {
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* Keys of 4 or 8 bytes. */
static inline uint64_t key_at(const void *keys, size_t width, size_t n) {
    return width == 4 ? ((const uint32_t *)keys)[n] : ((const uint64_t *)keys)[n];
}

static inline void set_key(void *keys, size_t width, size_t n, uint64_t key) {
    if (width == 4) ((uint32_t *)keys)[n] = (uint32_t)key;
    else ((uint64_t *)keys)[n] = key;
}

/* Sort keys by counting the groups of their first bits, of which there are 2^bits: into sorted. */
static inline void sort_keys(const void *keys, size_t width, size_t size, int shift, int bits, uint32_t *start, void *sorted) {
    memset(start, 0, (((size_t)1 << bits) + 1) * sizeof *start);
    for (size_t n = 0; n < size; n++) start[(key_at(keys, width, n) >> shift) + 1]++;
    for (size_t n = 0; n < (size_t)1 << bits; n++) start[n + 1] += start[n];
    for (size_t n = 0; n < size; n++) {
        uint64_t key = key_at(keys, width, n);
        set_key(sorted, width, start[key >> shift]++, key);
    }
    for (size_t n = 0, begin = 0; n < (size_t)1 << bits; begin = start[n++]) {
        if (start[n] - begin > 24) {
            qsort((char *)sorted + begin * width, start[n] - begin, width, width == 4 ? by_narrow_key : by_key);
            continue;
        }
        for (size_t m = begin + 1; m < start[n]; m++) {
            uint64_t key = key_at(sorted, width, m);
            size_t at = m;
            for (; at > begin && key_at(sorted, width, at - 1) > key; at--) set_key(sorted, width, at, key_at(sorted, width, at - 1));
            set_key(sorted, width, at, key);
        }
    }
}

static int codes_of(PyObject *object, const char *name, Py_buffer *view) {
    if (PyObject_GetBuffer(object, view, PyBUF_ND | PyBUF_FORMAT) < 0) {
        if (PyErr_ExceptionMatches(PyExc_BufferError)) PyErr_Format(PyExc_ValueError, "%s is not contiguous", name);
        return 0;
    }
    const char *format = view->format ? view->format : "B";
    if (view->ndim == 1 && view->itemsize <= 4 && format[0] && !format[1] && strchr("bhil", format[0])) return 1;
    PyErr_Format(PyExc_TypeError, "%s is not a one-dimensional array of integers of 1, 2 or 4 bytes", name);
    PyBuffer_Release(view);
    return 0;
}

static inline int32_t code_at(const void *codes, size_t width, size_t row) {
    return width == 1 ? ((const int8_t *)codes)[row] : width == 2 ? ((const int16_t *)codes)[row] : ((const int32_t *)codes)[row];
}

/* What rows are ordered by, and the groups of major that are wanted. */
typedef struct {
    const int32_t *major;
    const void *minor;
    size_t width, n_rows, n_groups, first, last;
    const void *carried; /* what each row carries, in place of its number; NULL for that */
    size_t carried_width;
} Ordering;

/* Where rows are written: what they carry, and unless they are NULL, what they are ordered by. */
typedef struct {
    int32_t *major, *minor, *carried;
} Ordered;

/* How many bits minor and what is carried have, and how many rows are in the groups that are wanted, and before. */
typedef struct {
    int minor_bits, carried_bits;
    size_t wanted, before;
} Checked;

/* Check rows: 1 done, 0 if a code of minor is negative, or one of major is wrong. */
static int check_rows(const Ordering *by, Checked *found) {
    int32_t minors = 0, wrong = 0;
    uint32_t carried = by->carried || !by->n_rows ? 0 : (uint32_t)(by->n_rows - 1);
    size_t wanted = 0, before = 0;
    for (size_t row = 0; row < by->n_rows; row++) {
        int32_t major = by->major[row];
        minors |= code_at(by->minor, by->width, row);
        if (by->carried) carried |= (uint32_t)code_at(by->carried, by->carried_width, row);
        wrong |= major < 0 || (size_t)major >= by->n_groups;
        wanted += (size_t)major >= by->first && (size_t)major < by->last;
        before += (size_t)major < by->first;
    }
    *found = (Checked){minors < 0 ? 0 : bits_of((uint64_t)minors), bits_of(carried), wanted, before};
    return !wrong && minors >= 0;
}

/* Write the sorted rows of a part, whose first group is given; 1 if two of them agree in major and minor. */
static inline int write_rows(const void *sorted, size_t width, size_t size, const Checked *rows, size_t group, Ordered to) {
    uint64_t before = UINT64_MAX, of_minor = ((uint64_t)1 << rows->minor_bits) - 1, of_carried = ((uint64_t)1 << rows->carried_bits) - 1;
    int again = 0;
    for (size_t n = 0; n < size; n++) {
        uint64_t key = key_at(sorted, width, n), head = key >> rows->carried_bits;
        again |= head == before;
        before = head;
        to.carried[n] = (int32_t)(uint32_t)(key & of_carried);
        if (to.major) to.major[n] = (int32_t)(group + (head >> rows->minor_bits));
        if (to.minor) to.minor[n] = (int32_t)(head & of_minor);
    }
    return again;
}

/* Parts of rows whose keys are sorted one after the other: where each begins, and room for the groups and keys of one. */
typedef struct {
    uint32_t *start, *groups;
    void *keys, *sorted;
    size_t n_parts;
    int bits;
} Parts;

/* Make the keys of the wanted rows, part by part, sort each part, and write its rows; 1 if some agree. */
static inline int order_parts(const Ordering *by, const Checked *rows, Parts parts, size_t width, Ordered to) {
    size_t span = by->last - by->first, rest = ((size_t)1 << parts.bits) - 1;
    int again = 0, shift = rows->minor_bits + rows->carried_bits;
    for (size_t row = 0; row < by->n_rows; row++) {
        size_t group = (size_t)by->major[row] - by->first;
        if (group >= span) continue;
        uint64_t head = (uint64_t)(group & rest) << rows->minor_bits | (uint32_t)code_at(by->minor, by->width, row);
        uint32_t carried = by->carried ? (uint32_t)code_at(by->carried, by->carried_width, row) : (uint32_t)row;
        set_key(parts.keys, width, parts.start[group >> parts.bits]++, head << rows->carried_bits | carried);
    }
    for (size_t n = 0, begin = 0; n < parts.n_parts; begin = parts.start[n++]) {
        size_t size = parts.start[n] - begin;
        sort_keys((const char *)parts.keys + begin * width, width, size, shift, parts.bits, parts.groups, parts.sorted);
        Ordered part = {to.major ? to.major + begin : NULL, to.minor ? to.minor + begin : NULL, to.carried + begin};
        again |= write_rows(parts.sorted, width, size, rows, by->first + (n << parts.bits), part);
    }
    return again;
}

/* Order the wanted rows by major, then minor, those that agree by what they carry, as they were if that is their number:
 * 1 done, 2 if some agree, 0 no memory.  Rows are first divided by major into parts that fit into a cache.  A key is what
 * is left of major, then minor, then what the row carries, so that every part is sorted by numbers alone. */
static int order_rows(const Ordering *by, const Checked *rows, Ordered to) {
    size_t span = by->last - by->first, largest = 0;
    int bits = bits_of(span / (rows->wanted / ROWS_TOGETHER + 1)), done = 0;
    if (bits > 20) bits = 20;
    if (bits > 32 - rows->minor_bits) bits = 32 - rows->minor_bits;
    size_t width = bits + rows->minor_bits + rows->carried_bits <= 32 ? 4 : 8;
    Parts parts = {NULL, NULL, NULL, NULL, (span >> bits) + 1, bits};
    parts.start = calloc(parts.n_parts + 1, sizeof *parts.start);
    parts.groups = malloc((((size_t)1 << bits) + 1) * sizeof *parts.groups);
    parts.keys = malloc((rows->wanted + 1) * width);
    if (parts.start && parts.groups && parts.keys) {
        for (size_t row = 0; row < by->n_rows; row++) {
            size_t group = (size_t)by->major[row] - by->first;
            if (group < span) parts.start[(group >> bits) + 1]++;
        }
        for (size_t n = 0; n < parts.n_parts; n++) {
            if (parts.start[n + 1] > largest) largest = parts.start[n + 1];
            parts.start[n + 1] += parts.start[n];
        }
        parts.sorted = malloc((largest + 1) * width);
    }
    if (parts.sorted) {
        in_large_pages(parts.keys, rows->wanted * width);
        done = 1 + (width == 4 ? order_parts(by, rows, parts, 4, to) : order_parts(by, rows, parts, 8, to));
    }
    free(parts.sorted);
    free(parts.keys);
    free(parts.groups);
    free(parts.start);
    return done;
}

/* An array of so many numbers of a size to write to: 1 done, 0 the error.  The view is to be released then. */
static int array_to(PyObject *object, size_t count, size_t size, Py_buffer *view) {
    if (PyObject_GetBuffer(object, view, PyBUF_ND | PyBUF_WRITABLE) < 0) return 0;
    if (view->ndim == 1 && (size_t)view->itemsize == size && (size_t)view->len == count * size) return 1;
    return PyErr_Format(PyExc_ValueError, "what is written to has not as many numbers, or not of %zu bytes", size), 0;
}

/* An array of int32 to write as many rows to, or None. */
static int rows_to(PyObject *object, size_t n_rows, Py_buffer *view) {
    return object == Py_None || array_to(object, n_rows, sizeof(int32_t), view);
}

/* Order rows, once all columns are known to be as long: 1 done, 2 if some agree, 0 the error. */
static int order_checked(const Ordering *by, Ordered to) {
    Checked rows;
    PyThreadState *unlocked = PyEval_SaveThread();
    int done = 0, right = check_rows(by, &rows);
    if (right) {
        size_t before = rows.before;
        Ordered own = {to.major ? to.major + before : NULL, to.minor ? to.minor + before : NULL, to.carried + before};
        done = order_rows(by, &rows, own);
    }
    PyEval_RestoreThread(unlocked);
    if (!right) PyErr_SetString(PyExc_ValueError, "a code is negative, or not below the number of groups");
    if (right && !done) PyErr_NoMemory();
    return done;
}

static PyObject *ordered_rows(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *majors, *minors, *loads, *outs[3];
    Py_ssize_t n_groups, first, last;
    Py_buffer major, minor, carried = {0}, out[3] = {{0}};
    if (!PyArg_ParseTuple(args, "OOOnnnOOO:ordered_rows", &majors, &minors, &loads, &n_groups, &first, &last, &outs[0], &outs[1],
                          &outs[2])) {
        return NULL;
    }
    if (!integers_of(majors, "major", sizeof(int32_t), &major)) return NULL;
    if (!codes_of(minors, "minor", &minor)) return PyBuffer_Release(&major), NULL;
    if (loads != Py_None && !codes_of(loads, "carried", &carried)) return PyBuffer_Release(&minor), PyBuffer_Release(&major), NULL;
    size_t n_rows = (size_t)major.len / sizeof(int32_t), width = carried.buf ? (size_t)carried.itemsize : 1;
    int done = 0, same_length = n_rows == (size_t)(minor.len / minor.itemsize);
    same_length = same_length && (loads == Py_None || n_rows == (size_t)carried.len / width);
    if (!same_length || n_groups >= INT32_MAX || n_rows >= INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "the columns differ in length, or are too long");
    } else if (first < 0 || first > last || last > n_groups) {
        PyErr_SetString(PyExc_ValueError, "the groups that are wanted are not below the number of groups");
    } else if (outs[2] == Py_None) {
        PyErr_SetString(PyExc_TypeError, "there is nothing to write the rows to");
    } else if (rows_to(outs[0], n_rows, &out[0]) && rows_to(outs[1], n_rows, &out[1]) && rows_to(outs[2], n_rows, &out[2])) {
        Ordering by = {major.buf, minor.buf, (size_t)minor.itemsize, n_rows, (size_t)n_groups,
                       (size_t)first, (size_t)last, carried.buf, width};
        done = order_checked(&by, (Ordered){out[0].buf, out[1].buf, out[2].buf});
    }
    for (size_t n = 0; n < 3; n++) PyBuffer_Release(&out[n]);
    PyBuffer_Release(&carried);
    PyBuffer_Release(&minor);
    PyBuffer_Release(&major);
    return done ? PyBool_FromLong(done == 2) : NULL;
}

/* ---- slices in a buffer of their own ----------------------------------------------------------------------------- */

/* Which slice is the n-th that is chosen, by int32 or NULL for all; none is beyond the slices. */
static inline Slice chosen_at(const Places *places, const int32_t *which, size_t n) {
    return slice_at(places, which ? (size_t)which[n] : n);
}

/* Copy slices one behind the other, and write where each ends; padding follows. */
static void copy_slices(const Places *places, const int32_t *which, size_t count, char *place, int64_t *end) {
    const char *begin = place;
    for (size_t n = 0; n < count; n++) {
        if (n + 2 * AHEAD < count && which) {
            FETCH((const int64_t *)places->start.buf + which[n + 2 * AHEAD]);
            FETCH((const int64_t *)places->end.buf + which[n + 2 * AHEAD]);
        }
        if (n + AHEAD < count) FETCH(chosen_at(places, which, n + AHEAD).at);
        Slice slice = chosen_at(places, which, n);
        memcpy(place, slice.at, slice.length);
        place += slice.length;
        end[n] = place - begin;
    }
    memset(place, 0, PADDING);
}

/* The bytes of the chosen slices together; -1 if one is not among the slices. */
static int64_t size_of_chosen(const Places *places, const int32_t *which, size_t count) {
    int64_t size = 0;
    for (size_t n = 0; n < count; n++) {
        if (which && (which[n] < 0 || (size_t)which[n] >= places->count)) return -1;
        size += (int64_t)chosen_at(places, which, n).length;
    }
    return size;
}

/* The chosen slices as two objects of bytes: the slices, and where each ends. */
static PyObject *copied_slices(const Places *places, const int32_t *which, size_t count) {
    PyThreadState *unlocked = PyEval_SaveThread();
    int64_t size = size_of_chosen(places, which, count);
    PyEval_RestoreThread(unlocked);
    if (size < 0) return PyErr_SetString(PyExc_IndexError, "a number is not among the slices"), NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size + PADDING), *ends = NULL;
    if (bytes) ends = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(int64_t)));
    if (!ends) return Py_XDECREF(bytes), NULL;
    char *place = PyBytes_AsString(bytes);
    int64_t *end = (int64_t *)PyBytes_AsString(ends);
    unlocked = PyEval_SaveThread();
    copy_slices(places, which, count, place, end);
    PyEval_RestoreThread(unlocked);
    return Py_BuildValue("NN", bytes, ends);
}

static PyObject *compacted(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *buffer, *start, *end, *chosen, *found = NULL;
    if (!PyArg_ParseTuple(args, "OOOO:compacted", &buffer, &start, &end, &chosen)) return NULL;
    Py_buffer bytes, which = {0};
    Places places;
    if (!view_of(buffer, "buffer", "B", 1, &bytes)) return NULL;
    if (places_of(&bytes, start, end, &places)) {
        if (chosen == Py_None || integers_of(chosen, "which", sizeof(int32_t), &which)) {
            size_t count = chosen == Py_None ? places.count : (size_t)which.len / sizeof(int32_t);
            found = copied_slices(&places, which.buf, count);
            PyBuffer_Release(&which);
        }
        leave(&places);
    }
    PyBuffer_Release(&bytes);
    return found;
}

/* ---- codes: columns of 1, 2 or 4 bytes ---------------------------------------------------------------------------- */

/* Copy cells of a table of n by codes, which count from the end if they are negative: 1 done, 0 a wrong code. */
static inline int gather(const char *table, size_t n, size_t size, const void *codes, size_t width, size_t rows, char *out) {
    for (size_t row = 0; row < rows; row++) {
        int64_t code = code_at(codes, width, row);
        if (code < 0) code += (int64_t)n;
        if (code < 0 || (size_t)code >= n) return 0;
        memcpy(out + row * size, table + (size_t)code * size, size);
    }
    return 1;
}

#define BY_SIZE(WIDTH)                                                        \
    (size == 1   ? gather(table, n, 1, codes, WIDTH, rows, out)               \
     : size == 2 ? gather(table, n, 2, codes, WIDTH, rows, out)               \
     : size == 4 ? gather(table, n, 4, codes, WIDTH, rows, out)               \
                 : gather(table, n, 8, codes, WIDTH, rows, out))

static int gather_any(const char *table, size_t n, size_t size, const void *codes, size_t width, size_t rows, char *out) {
    return width == 1 ? BY_SIZE(1) : width == 2 ? BY_SIZE(2) : BY_SIZE(4);
}

static PyObject *gathered(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *tables, *coded, *outs;
    Py_buffer table, codes, out;
    int done = -1;
    if (!PyArg_ParseTuple(args, "OOO:gathered", &tables, &coded, &outs)) return NULL;
    if (PyObject_GetBuffer(tables, &table, PyBUF_ND) < 0) return NULL;
    if (!codes_of(coded, "codes", &codes)) return PyBuffer_Release(&table), NULL;
    if (PyObject_GetBuffer(outs, &out, PyBUF_ND | PyBUF_WRITABLE) < 0) {
        return PyBuffer_Release(&codes), PyBuffer_Release(&table), NULL;
    }
    size_t size = (size_t)table.itemsize, rows = (size_t)(codes.len / codes.itemsize);
    if (table.ndim != 1 || (size != 1 && size != 2 && size != 4 && size != 8)) {
        PyErr_SetString(PyExc_TypeError, "table is not a one-dimensional array of numbers");
    } else if ((size_t)out.itemsize != size || (size_t)out.len / size != rows) {
        PyErr_SetString(PyExc_ValueError, "out is not as long as codes, or not of the table's type");
    } else {
        PyThreadState *unlocked = PyEval_SaveThread();
        done = gather_any(table.buf, (size_t)table.len / size, size, codes.buf, (size_t)codes.itemsize, rows, out.buf);
        PyEval_RestoreThread(unlocked);
        if (!done) PyErr_SetString(PyExc_IndexError, "a code is not within the table");
    }
    PyBuffer_Release(&out);
    PyBuffer_Release(&codes);
    PyBuffer_Release(&table);
    return done == 1 ? Py_NewRef(Py_None) : NULL;
}

static inline int count_all(const void *codes, size_t width, size_t rows, size_t n, int32_t *counts) {
    for (size_t row = 0; row < rows; row++) {
        int32_t code = code_at(codes, width, row);
        if (code < 0 || (size_t)code >= n) return 0;
        counts[code]++;
    }
    return 1;
}

static PyObject *count_codes(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *coded, *found = NULL;
    Py_ssize_t n;
    Py_buffer codes;
    if (!PyArg_ParseTuple(args, "On:counted", &coded, &n)) return NULL;
    if (!codes_of(coded, "codes", &codes)) return NULL;
    size_t width = (size_t)codes.itemsize, rows = (size_t)codes.len / width;
    if (n < 0 || n >= INT32_MAX || rows >= INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "there are too many codes");
    } else if ((found = PyBytes_FromStringAndSize(NULL, n * (Py_ssize_t)sizeof(int32_t)))) {
        int32_t *counts = (int32_t *)PyBytes_AsString(found);
        PyThreadState *unlocked = PyEval_SaveThread();
        memset(counts, 0, (size_t)n * sizeof *counts);
        int done = width == 1   ? count_all(codes.buf, 1, rows, (size_t)n, counts)
                   : width == 2 ? count_all(codes.buf, 2, rows, (size_t)n, counts)
                                : count_all(codes.buf, 4, rows, (size_t)n, counts);
        PyEval_RestoreThread(unlocked);
        if (!done) PyErr_SetString(PyExc_IndexError, "a code is not below the number of names");
        if (!done) Py_CLEAR(found);
    }
    PyBuffer_Release(&codes);
    return found;
}

/* The one group of each name, -1 where it has no row: 1 done, 0 a name has two groups, -1 a wrong code. */
static inline int find_homes(const void *group, size_t group_width, const void *codes, size_t width, size_t rows, size_t n,
                             int32_t *homes) {
    for (size_t row = 0; row < rows; row++) {
        int32_t code = code_at(codes, width, row), home = code_at(group, group_width, row);
        if (code < 0 || (size_t)code >= n || home < 0) return -1;
        if (homes[code] != home) {
            if (homes[code] >= 0) return 0;
            homes[code] = home;
        }
    }
    return 1;
}

static PyObject *homes(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *grouped, *coded, *found = NULL;
    Py_ssize_t n;
    Py_buffer group, codes;
    if (!PyArg_ParseTuple(args, "OOn:homes", &grouped, &coded, &n)) return NULL;
    if (!codes_of(grouped, "group", &group)) return NULL;
    if (!codes_of(coded, "codes", &codes)) return PyBuffer_Release(&group), NULL;
    size_t wide = (size_t)group.itemsize, width = (size_t)codes.itemsize, rows = (size_t)codes.len / width;
    if (n < 0 || n >= INT32_MAX || (size_t)group.len / wide != rows) {
        PyErr_SetString(PyExc_ValueError, "group and codes differ in length, or there are too many names");
    } else if ((found = PyBytes_FromStringAndSize(NULL, n * (Py_ssize_t)sizeof(int32_t)))) {
        int32_t *home = (int32_t *)PyBytes_AsString(found);
        PyThreadState *unlocked = PyEval_SaveThread();
        memset(home, 255, (size_t)n * sizeof *home);
        int done = wide == 2 && width == 4 ? find_homes(group.buf, 2, codes.buf, 4, rows, (size_t)n, home)
                                           : find_homes(group.buf, wide, codes.buf, width, rows, (size_t)n, home);
        PyEval_RestoreThread(unlocked);
        if (done < 0) PyErr_SetString(PyExc_IndexError, "a code is negative, or not below the number of names");
        if (done < 1) Py_CLEAR(found);
        if (!done) found = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&codes);
    PyBuffer_Release(&group);
    return found;
}

/* ---- names in order, group by group ------------------------------------------------------------------------------- */

typedef struct {
    uint64_t head; /* the first bytes behind those that all names of the group share */
    Slice name;
    int32_t row;
} Placed;

static int by_head(const void *a, const void *b) {
    uint64_t one = ((const Placed *)a)->head, other = ((const Placed *)b)->head;
    return (one > other) - (one < other);
}

static int by_name(const void *a, const void *b) { return compare(((const Placed *)a)->name, ((const Placed *)b)->name); }

/* Sort names by their heads, and where these agree by all bytes. */
static void sort_names(Placed *placed, size_t size) {
    qsort(placed, size, sizeof *placed, by_head);
    for (size_t n = 0, end; n < size; n = end) {
        for (end = n + 1; end < size && placed[end].head == placed[n].head;) end++;
        if (end - n > 1) qsort(placed + n, end - n, sizeof *placed, by_name);
    }
}

/* How many bytes from the first on all names of a group share. */
static size_t shared_bytes(const Placed *placed, size_t size) {
    Slice one = placed[0].name;
    size_t shared = one.length;
    for (size_t n = 1; n < size && shared; n++) {
        Slice name = placed[n].name;
        size_t at = 0, most = name.length < shared ? name.length : shared;
        while (at < most && name.at[at] == one.at[at]) at++;
        shared = at;
    }
    return shared;
}

static inline uint64_t head_of(Slice name, size_t shared) {
    const char *at = name.at + shared;
    size_t left = name.length - shared;
#if WORDWISE
    return left >= 8 ? __builtin_bswap64(load(at)) : left ? __builtin_bswap64(load_some(at, left) >> (64 - 8 * left)) : 0;
#else
    uint64_t head = 0;
    for (size_t n = 0; n < 8; n++) head = head << 8 | (n < left ? (uint8_t)at[n] : 0);
    return head;
#endif
}

/* What names are ordered by, and the groups that are wanted; how many names these and those before have, and bytes. */
typedef struct {
    const int32_t *group;
    size_t first, last, wanted, before, bytes_before;
} Grouping;

/* Where ordered names are written: the place of each, their bytes, and where they end. */
typedef struct {
    int32_t *place;
    char *bytes;
    int64_t *end;
} InOrder;

/* Number the names of a group, and copy their bytes, from place on; returns where the bytes end. */
static char *write_names(const Placed *placed, size_t size, size_t place, char *at, InOrder to) {
    for (size_t n = 0; n < size; n++) {
        memcpy(at, placed[n].name.at, placed[n].name.length);
        at += placed[n].name.length;
        to.place[placed[n].row] = (int32_t)(place + n);
        to.end[place + n] = at - to.bytes;
    }
    return at;
}

/* Fetch the names of a group, and sort them. */
static void sort_group(const Places *names, const int32_t *rows, size_t size, Placed *placed) {
    for (size_t m = 0; m < size; m++) {
        FETCH((const int64_t *)names->start.buf + rows[m]);
        FETCH((const int64_t *)names->end.buf + rows[m]);
    }
    for (size_t m = 0; m < size; m++) {
        placed[m] = (Placed){0, slice_at(names, (size_t)rows[m]), rows[m]};
        FETCH(placed[m].name.at);
    }
    size_t shared = shared_bytes(placed, size);
    for (size_t m = 0; m < size; m++) placed[m].head = head_of(placed[m].name, shared);
    sort_names(placed, size);
}

/* Order the names of the wanted groups by group, and bytewise within a group: 1 done, 0 no memory. */
static int order_names(const Grouping *by, const Places *names, InOrder to) {
    size_t n_groups = by->last - by->first, largest = 0;
    uint32_t *start = calloc(n_groups + 2, sizeof *start);
    int32_t *rows = malloc((by->wanted + 1) * sizeof *rows);
    Placed *placed = NULL;
    if (start && rows) {
        for (size_t row = 0; row < names->count; row++) {
            size_t group = (size_t)by->group[row] - by->first;
            if (group < n_groups) start[group + 1]++;
        }
        for (size_t n = 0; n < n_groups; n++) {
            if (start[n + 1] > largest) largest = start[n + 1];
            start[n + 1] += start[n];
        }
        placed = malloc((largest + 1) * sizeof *placed);
    }
    if (placed) {
        char *at = to.bytes + by->bytes_before;
        for (size_t row = 0; row < names->count; row++) {
            size_t group = (size_t)by->group[row] - by->first;
            if (group < n_groups) rows[start[group]++] = (int32_t)row;
        }
        for (size_t n = 0, begin = 0; n < n_groups; begin = start[n++]) { /* a start has become that of the next */
            size_t size = start[n] - begin;
            if (!size) continue;
            sort_group(names, rows + begin, size, placed);
            at = write_names(placed, size, by->before + begin, at, to);
        }
    }
    int done = placed != NULL;
    free(placed);
    free(rows);
    free(start);
    return done;
}

/* Count the names of the wanted groups and of those before, and the bytes of all: 1 done, 0 if a group is negative. */
static int count_names(Grouping *by, const Places *names, size_t *total) {
    for (size_t n = 0; n < names->count; n++) {
        size_t length = slice_at(names, n).length;
        if (by->group[n] < 0) return 0;
        *total += length;
        if ((size_t)by->group[n] < by->first) by->before++, by->bytes_before += length;
        by->wanted += (size_t)by->group[n] >= by->first && (size_t)by->group[n] < by->last;
    }
    return 1;
}

static PyObject *ordered_names(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *groups, *buffer, *start, *end, *outs[3];
    Py_ssize_t first, last;
    Py_buffer group, bytes, out[3] = {{0}};
    Places names;
    size_t total = 0;
    int done = 0;
    if (!PyArg_ParseTuple(args, "OnnOOOOOO:ordered_names", &groups, &first, &last, &buffer, &start, &end, &outs[0], &outs[1],
                          &outs[2])) {
        return NULL;
    }
    if (!integers_of(groups, "group", sizeof(int32_t), &group)) return NULL;
    if (!view_of(buffer, "buffer", "B", 1, &bytes)) return PyBuffer_Release(&group), NULL;
    if (!places_of(&bytes, start, end, &names)) return PyBuffer_Release(&bytes), PyBuffer_Release(&group), NULL;
    Grouping by = {group.buf, (size_t)first, (size_t)last, 0, 0, 0};
    if ((size_t)group.len / sizeof(int32_t) != names.count || first < 0 || first > last || last >= INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "there are not as many groups as names, or the groups wanted are wrong");
    } else if (!count_names(&by, &names, &total)) {
        PyErr_SetString(PyExc_ValueError, "a group is negative");
    } else if (array_to(outs[0], names.count, sizeof(int32_t), &out[0]) && array_to(outs[1], total + PADDING, 1, &out[1]) &&
               array_to(outs[2], names.count, sizeof(int64_t), &out[2])) {
        PyThreadState *unlocked = PyEval_SaveThread();
        done = order_names(&by, &names, (InOrder){out[0].buf, out[1].buf, out[2].buf});
        PyEval_RestoreThread(unlocked);
        if (!done) PyErr_NoMemory();
    }
    for (size_t n = 0; n < 3; n++) PyBuffer_Release(&out[n]);
    leave(&names);
    PyBuffer_Release(&bytes);
    PyBuffer_Release(&group);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* ---- click logs: rows of any format to counts ----------------------------------------------------------------------- */

enum { IN_SESSION, IN_TOPIC, OF_DOC, CLICKED, AT_RANK, DWELL, N_ROLES };
enum { WAS_CLICKED = 1, WITH_DWELL = 2, SATISFIED = 4 };
enum { ODD_LOG = 0, FINE = 1, NO_MEMORY = -1 };

/* A name that was read: what it looks like in the table, but for its number and place, and its bytes. */
typedef struct {
    Named entry;
    Slice text;
} NameCell;

/* A result that was shown: its document and rank, 0 for none, and what is known of it. */
typedef struct {
    NameCell doc;
    int32_t rank, flags;
} Row;

/* Rows behind each other with the same topic, and the hash of their session. */
typedef struct {
    uint64_t session;
    NameCell topic;
    size_t n_rows;
} Stretch;

/* Rows that were read, and what their cells are in: text, a copy of cells with quotes or escapes, Arrow arrays. */
typedef struct {
    Array rows, stretches, arrays;
    Py_buffer text;
    char *spare;
} Batch;

typedef struct {
    int64_t shown, clicks, satisfied;
} Counts;

typedef struct {
    Counts counts;
    Named doc;
    int32_t topic;
    uint32_t page, place; /* the page that showed it last, and its place there */
    uint32_t next, list; /* the item that was shown behind it last, and the list that it was the first of; 0 none */
} Item;

/* An item as it is handed out. */
typedef struct {
    Counts counts;
    int32_t topic, doc;
} ItemCounts;

typedef struct {
    Counts counts;
    int64_t rank;
} AtRank;

typedef struct {
    int64_t n_shown, first, begin, length;
} List;

typedef struct {
    uint64_t session;
    int32_t item, rank;
} LastClick;

/* What is known under a hash: a number from 1 on. */
typedef struct {
    uint64_t hashed;
    uint32_t number;
} Known;

typedef struct {
    Known *cells;
    size_t room; /* a power of two, at least twice the number of cells that are filled */
} Index;

/* A result of the page that is read: rows of one document are joined. */
typedef struct {
    int32_t item, rank;
    int64_t clicked_at; /* the row of the last click, or -1 */
    uint32_t place, satisfied;
} Shown;

typedef struct {
    PyObject_HEAD
    Names *topics, *docs;
    Keys keys;
    double dwell;
    size_t longest;
    Index items_at, lists_at, ranks_at;
    Array items, ranks, lists, places, sessions, last, page;
    Array firsts; /* the item that each topic showed first last time; 0 none */
    uint64_t session; /* of the page */
    int32_t topic;
    uint32_t n_pages, before; /* before: the item that was shown last on the page; 0 none */
    int surprised; /* whether another item was shown than the one expected: then the next ones are fetched together */
    int has_dwell; /* whether rows may have a dwell time: then last clicks are not needed */
    int64_t n_rows, n_repeats, n_unknown, first;
    /* What follows belongs to the thread that reads rows; names and the above to the one that counts them. */
    Batch batches[2]; /* one is filled while the other is counted */
    int filled;
    uint64_t read_session, read_topic; /* hashes of the page that was read last */
    int64_t n_read; /* rows that were read of it */
} ClickCounter;

static inline uint64_t mixed_word(const Keys *keys, uint64_t word) {
    uint64_t mixed = keyed(keys, word, 0);
    mixed = (mixed ^ (mixed >> 32)) * 0x9E3779B97F4A7C15u;
    return mixed ^ (mixed >> 32);
}

/* Make room for one more number. */
static int index_more(Index *index, size_t count) {
    if (index->room && 2 * (count + 1) <= index->room) return 1;
    size_t more = index->room ? 2 * index->room : 1024;
    Known *cells = count < INT32_MAX - 1 ? calloc(more, sizeof *cells) : NULL;
    if (!cells) return 0;
    in_large_pages(cells, more * sizeof *cells);
    for (size_t n = 0; n < index->room; n++) {
        Known cell = index->cells[n];
        size_t at = cell.hashed & (more - 1);
        if (!cell.number) continue;
        while (cells[at].number) at = (at + 1) & (more - 1);
        cells[at] = cell;
    }
    free(index->cells);
    *index = (Index){cells, more};
    return 1;
}

/* The next cell from ``at`` on that is empty, or has this hash. */
static inline Known *cell_at(const Index *index, size_t at, uint64_t hashed) {
    for (at &= index->room - 1; index->cells[at].number; at = (at + 1) & (index->room - 1)) {
        PROBED();
        if (index->cells[at].hashed == hashed) break;
    }
    return &index->cells[at];
}

static inline Known *cell_behind(const Index *index, const Known *cell) {
    return cell_at(index, (size_t)(cell - index->cells) + 1, cell->hashed);
}

/* The hash of a name by which the table has it: all of it if the name is short. */
static inline uint64_t hash_of(const Names *names, Named entry) {
    return entry.number ? entry.more : hash_short(&names->keys, entry.word, entry.more);
}

static inline uint64_t item_hash(const ClickCounter *self, const Row *row, int32_t topic) {
    return mixed_word(&self->keys, (uint64_t)(uint32_t)topic << 32 | (uint32_t)hash_of(self->docs, row->doc.entry));
}

static inline Item *item_at(const ClickCounter *self, uint32_t number) { return (Item *)self->items.data + number - 1; }

/* Whether an item, given by its number, has the document of a row. */
static inline int shows(const ClickCounter *self, uint32_t number, const Row *row) {
    return is_name(self->docs, &item_at(self, number)->doc, row->doc.entry, row->doc.text);
}

/* The document of a row with its number and place, which is added if it is new; number 0: no memory, or too many. */
static Named named_doc(ClickCounter *self, const Row *row) {
    Named found = row->doc.entry;
    int64_t number = number_of(self->docs, row->doc.text, found, hash_of(self->docs, found));
    if (number < 0) return (Named){0, 0, 0};
    if (found.number) found.word |= (uint64_t)(name_at(self->docs, (size_t)number).at - self->docs->bytes.data);
    found.number |= (uint32_t)number + 1;
    return found;
}

/* The number from 1 on of the item of a row, which is added if it is new; 0 no memory, or too many. */
static uint32_t find_item(ClickCounter *self, const Row *row, int32_t topic) {
    size_t count = self->items.used / sizeof(Item);
    if (!index_more(&self->items_at, count)) return 0;
    uint64_t hashed = item_hash(self, row, topic);
    Known *cell = cell_at(&self->items_at, hashed, hashed);
    for (; cell->number; cell = cell_behind(&self->items_at, cell)) {
        if (item_at(self, cell->number)->topic == topic && shows(self, cell->number, row)) return cell->number;
    }
    Named doc = named_doc(self, row);
    Item *item = doc.number ? grow(&self->items, sizeof *item) : NULL;
    if (!item) return 0;
    *item = (Item){{0, 0, 0}, doc, topic, 0, 0, 0, 0};
    *cell = (Known){hashed, (uint32_t)count + 1};
    return (uint32_t)count + 1;
}

/* The place that says which item is probably shown next. */
static inline uint32_t *next_item(const ClickCounter *self) {
    return self->before ? &item_at(self, self->before)->next : (uint32_t *)(void *)self->firsts.data + self->topic;
}

/* The counts at a rank; NULL no memory. */
static Counts *rank_of(ClickCounter *self, int32_t rank) {
    size_t count = self->ranks.used / sizeof(AtRank);
    AtRank *all = (AtRank *)self->ranks.data;
    if ((size_t)rank <= count && all[rank - 1].rank == rank) return &all[rank - 1].counts; /* ranks came in order */
    if (!index_more(&self->ranks_at, count)) return NULL;
    uint64_t hashed = mixed_word(&self->keys, (uint64_t)rank);
    Known *cell = cell_at(&self->ranks_at, hashed, hashed);
    for (; cell->number; cell = cell_behind(&self->ranks_at, cell)) {
        AtRank *known = (AtRank *)self->ranks.data + cell->number - 1;
        if (known->rank == rank) return &known->counts;
    }
    AtRank *added = grow(&self->ranks, sizeof *added);
    if (!added) return NULL;
    *added = (AtRank){{0, 0, 0}, rank};
    *cell = (Known){hashed, (uint32_t)count + 1};
    return &added->counts;
}

/* Whether a list, given by its number, has the last ``length`` places. */
static inline int is_list(const ClickCounter *self, uint32_t number, size_t length) {
    const List *list = (const List *)self->lists.data + number - 1;
    const char *items = self->places.data + self->places.used - length * sizeof(int32_t);
    return (size_t)list->length == length &&
           !memcmp(self->places.data + (size_t)list->begin * sizeof(int32_t), items, length * sizeof(int32_t));
}

/* The number from 1 on of the list of the last ``length`` places, which is added if it is new; 0 no memory. */
static uint32_t find_list(ClickCounter *self, size_t length) {
    size_t count = self->lists.used / sizeof(List), size = length * sizeof(int32_t);
    if (!index_more(&self->lists_at, count)) return 0;
    uint64_t hashed = hash_exactly(&self->keys, (Slice){self->places.data + self->places.used - size, size});
    Known *cell = cell_at(&self->lists_at, hashed, hashed);
    for (; cell->number; cell = cell_behind(&self->lists_at, cell)) {
        if (is_list(self, cell->number, length)) return cell->number;
    }
    List *list = grow(&self->lists, sizeof *list);
    if (!list) return 0;
    *list = (List){0, self->first, (int64_t)((self->places.used - size) / sizeof(int32_t)), (int64_t)length};
    *cell = (Known){hashed, (uint32_t)count + 1};
    return (uint32_t)count + 1;
}

/* Count the list of the page, whose items are the last ``length`` places; they stay only if the list is new. */
static int count_list(ClickCounter *self, size_t length) {
    size_t size = length * sizeof(int32_t);
    int32_t first;
    memcpy(&first, self->places.data + self->places.used - size, sizeof first);
    uint32_t *number = &((Item *)self->items.data)[first].list;
    if (!*number || !is_list(self, *number, length)) *number = find_list(self, length);
    if (!*number) return 0;
    List *list = (List *)self->lists.data + *number - 1;
    if (list->n_shown++) self->places.used -= size;
    return 1;
}

static int by_rank_and_place(const void *a, const void *b) {
    const Shown *one = a, *other = b;
    if (one->rank != other->rank) return one->rank < other->rank ? -1 : 1;
    return one->place < other->place ? -1 : one->place > other->place;
}

static inline void count_result(Counts *counts, const Shown *result) {
    counts->shown++;
    counts->clicks += result->clicked_at >= 0;
    counts->satisfied += result->satisfied;
}

/* Count the results of the page, by rank: 1 done, 0 no memory. */
static int end_page(ClickCounter *self) {
    Shown *page = (Shown *)self->page.data;
    size_t length = self->page.used / sizeof *page, ordered = 1;
    if (!length) return 1;
    while (ordered < length && page[ordered].rank >= page[ordered - 1].rank) ordered++;
    if (ordered < length) qsort(page, length, sizeof *page, by_rank_and_place);
    int32_t *places = grow(&self->places, length * sizeof *places);
    const Shown *last = page;
    for (size_t n = 0; places && n < length; n++) {
        Counts *at_rank = rank_of(self, page[n].rank);
        if (!at_rank) return 0;
        count_result(at_rank, &page[n]);
        count_result(&((Item *)self->items.data + page[n].item)->counts, &page[n]);
        places[n] = page[n].item;
        if (page[n].clicked_at > last->clicked_at) last = &page[n];
    }
    uint64_t *session = places ? grow(&self->sessions, sizeof *session) : NULL;
    if (!session) return 0;
    *session = self->session * 0x9E3779B97F4A7C15u + mixed_word(&self->keys, (uint64_t)(uint32_t)self->topic + 1);
    if (last->clicked_at >= 0 && !self->has_dwell) {
        LastClick *click = grow(&self->last, sizeof *click);
        if (!click) return 0;
        *click = (LastClick){*session, last->item, last->rank};
    }
    self->page.used = 0;
    return count_list(self, length);
}

/* Begin a page, unless the row belongs to the one before: 1 done, 0 no memory. */
static inline int begin_page(ClickCounter *self, uint64_t session, int32_t topic) {
    if (self->page.used && session == self->session && topic == self->topic) return 1;
    if (!end_page(self)) return 0;
    self->session = session, self->topic = topic;
    self->first = self->n_rows;
    self->before = 0;
    self->n_pages++;
    return 1;
}

/* Count one row of the page: 1 done, 0 no memory. */
static inline int count_row(ClickCounter *self, const Row *row) {
    uint32_t number = *next_item(self);
    if (!number || !shows(self, number, row)) {
        number = find_item(self, row, self->topic);
        if (!number) return 0;
        *next_item(self) = number;
        self->surprised = self->before != 0;
    }
    self->before = number;
    Item *item = item_at(self, number);
    uint32_t satisfied = (row->flags & SATISFIED) != 0, place = (uint32_t)(self->page.used / sizeof(Shown));
    int64_t at = self->n_rows++, clicked_at = row->flags & WAS_CLICKED ? at : -1;
    self->n_unknown += (row->flags & (WAS_CLICKED | WITH_DWELL)) == WAS_CLICKED;
    if (item->page == self->n_pages) {
        Shown *known = (Shown *)self->page.data + item->place;
        if (row->rank && row->rank < known->rank) known->rank = row->rank;
        if (clicked_at >= 0) known->clicked_at = clicked_at;
        known->satisfied |= satisfied;
        self->n_repeats++;
        return 1;
    }
    item->page = self->n_pages, item->place = place;
    Shown *result = grow(&self->page, sizeof *result);
    if (result) *result = (Shown){(int32_t)number - 1, row->rank ? row->rank : (int32_t)place + 1, clicked_at, place, satisfied};
    return result != NULL;
}

/* The number of a topic, which is added if it is new; -1 no memory, or too many. */
static int32_t number_topic(ClickCounter *self, const NameCell *topic) {
    int64_t number = number_of(self->topics, topic->text, topic->entry, hash_of(self->topics, topic->entry));
    size_t known = self->firsts.used / sizeof(uint32_t);
    if (number < 0 || (size_t)number < known) return number < 0 ? -1 : (int32_t)number;
    size_t more = ((size_t)number + 1 - known) * sizeof(uint32_t);
    void *firsts = grow(&self->firsts, more);
    if (!firsts) return -1;
    memset(firsts, 0, more);
    return (int32_t)number;
}

/* Fetch the items of rows together, each with its topic, and the documents of those that are new.  (A function that does
 * nothing else is left out by some compilers.) */
static void fetch_items(ClickCounter *self, const Row *const *rows, const int32_t *topic, size_t count) {
    const Index *index = &self->items_at;
    uint64_t hashed[AHEAD];
    self->surprised = 0;
    for (size_t n = 0; n < count && index->room; n++) {
        hashed[n] = item_hash(self, rows[n], topic[n]);
        FETCH(&index->cells[hashed[n] & (index->room - 1)]);
    }
    for (size_t n = 0; n < count && index->room; n++) {
        uint32_t number = index->cells[hashed[n] & (index->room - 1)].number;
        if (number) FETCH(item_at(self, number));
        if (!number) FETCH(&self->docs->cells[hash_of(self->docs, rows[n]->doc.entry) & (self->docs->room - 1)]);
    }
}

/* Count rows of one page: 1 done, 0 no memory. */
static int count_stretch(ClickCounter *self, const Row *row, size_t n_rows) {
    for (size_t n = 0, fetched = 0; n < n_rows; n++) {
        if (self->surprised && n >= fetched) {
            const Row *rows[AHEAD];
            int32_t topic[AHEAD];
            size_t count = n_rows - n < AHEAD ? n_rows - n : AHEAD;
            for (size_t m = 0; m < count; m++) rows[m] = row + n + m, topic[m] = self->topic;
            fetch_items(self, rows, topic, count);
            fetched = n + count;
        }
        if (!count_row(self, row + n)) return 0;
    }
    return 1;
}

/* Count rows, whose first items and topics are fetched together: 1 done, 0 no memory. */
static int count_rows(ClickCounter *self, const Batch *batch) {
    const Row *row = (const Row *)(void *)batch->rows.data, *rows[AHEAD];
    const Stretch *stretch = (const Stretch *)(void *)batch->stretches.data;
    int32_t topic[AHEAD];
    for (size_t left = batch->stretches.used / sizeof *stretch, count; left; left -= count, stretch += count) {
        count = left < AHEAD ? left : AHEAD;
        for (size_t n = 0; n < count; n++) {
            FETCH(&self->topics->cells[hash_of(self->topics, stretch[n].topic.entry) & (self->topics->room - 1)]);
        }
        for (size_t n = 0; n < count; n++) {
            topic[n] = number_topic(self, &stretch[n].topic);
            if (topic[n] < 0) return 0;
            rows[n] = n ? rows[n - 1] + stretch[n - 1].n_rows : row;
        }
        fetch_items(self, rows, topic, count);
        for (size_t n = 0; n < count; n++) {
            if (!begin_page(self, stretch[n].session, topic[n]) || !count_stretch(self, rows[n], stretch[n].n_rows)) return 0;
        }
        row = rows[count - 1] + stretch[count - 1].n_rows;
    }
    return 1;
}

/* ---- click logs: text to rows ---------------------------------------------------------------------------------------- */

/* Kinds of JSON values, but for null. */
enum { A_TEXT = 1, A_WHOLE = 2, A_FRACTION = 4, A_FLAG = 8, MOST_KEYS = 64 };

/* A block of whole lines: CSV or TSV, whose fields have roles, or a JSON object on each, whose keys have. */
typedef struct {
    const char *begin, *limit;
    const uint8_t *roles; /* N_ROLES for none */
    size_t n_fields;
    char separator;
    int quoted, with_cr;
    const Slice *keys; /* NULL if it is not JSON */
    uint8_t kinds[MOST_KEYS];
    char *spare; /* where cells are written that have quotes or escapes in them */
    size_t spare_used;
    double unit;
    int no_memory;
    PyThreadState *unlocked;
} Block;

/* Begin to write a cell; all cells of the block have room.  NULL no memory. */
static char *spare_cell(Block *block) {
    if (!block->spare) block->spare = malloc((size_t)(block->limit - block->begin) + SHORT + 1);
    block->no_memory = !block->spare;
    return block->spare ? block->spare + block->spare_used : NULL;
}

/* End a cell that was written: with a zero, at which the reading of numbers stops. */
static Slice written_cell(Block *block, char *begin, char *end) {
    *end = 0;
    block->spare_used = (size_t)(end - block->spare) + 1;
    return (Slice){begin, (size_t)(end - begin)};
}

/* Read a quoted cell from behind its first quote: where it ends behind the last one, or NULL. */
static const char *quoted_cell(Block *block, const char *p, Slice *text) {
    const char *end = memchr(p, '"', (size_t)(block->limit - p));
    if (!end) return NULL;
    *text = (Slice){p, (size_t)(end - p)};
    if (end[1] != '"') return end + 1;
    char *copy = spare_cell(block), *to = copy;
    if (!copy) return NULL;
    for (; end && end[1] == '"'; p = end + 2, end = memchr(p, '"', (size_t)(block->limit - p))) {
        memcpy(to, p, (size_t)(end + 1 - p));
        to += end + 1 - p;
    }
    if (!end) return NULL;
    memcpy(to, p, (size_t)(end - p));
    *text = written_cell(block, copy, to + (end - p));
    return end + 1;
}

/* Where a cell without quotes ends: at a separator or at the end of the line. */
static inline const char *cell_end(const char *p, const char *limit, char separator) {
#if defined(__SSE2__) && defined(__GNUC__)
    const __m128i separators = _mm_set1_epi8(separator), ends = _mm_set1_epi8('\n');
    for (; limit - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        int found = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, separators), _mm_cmpeq_epi8(bytes, ends)));
        if (found) return p + __builtin_ctz((unsigned)found);
    }
#endif
    (void)limit;
    while (*p != separator && *p != '\n') p++;
    return p;
}

/* Read a cell without quotes; a carriage return belongs to the end of a line. */
static inline const char *plain_cell(const Block *block, const char *p, Slice *text) {
    const char *start = p;
    p = cell_end(p, block->limit, block->separator);
    size_t length = (size_t)(p - start);
    if (block->with_cr && *p == '\n' && length && p[-1] == '\r') length--;
    *text = (Slice){start, length};
    if (block->quoted && memchr(start, '"', length)) return NULL;
    return block->with_cr && memchr(start, '\r', length) ? NULL : p;
}

/* Split a row of CSV or TSV into its cells: where the next one begins, or NULL. */
static const char *split_fields(Block *block, const char *p, Slice *cell) {
    for (size_t field = 0; field < block->n_fields; field++, p++) {
        Slice text;
        if (block->quoted && *p == '"') {
            p = quoted_cell(block, p + 1, &text);
            if (p && p[0] == '\r' && p[1] == '\n') p++;
        } else {
            p = plain_cell(block, p, &text);
        }
        if (!p || *p != (field + 1 == block->n_fields ? '\n' : block->separator)) return NULL;
        cell[block->roles[field]] = text;
    }
    return p;
}

/* Four hexadecimal digits, or -1. */
static int32_t read_hexadecimal(const char *p) {
    int32_t value = 0;
    for (int n = 0; n < 4; n++) {
        unsigned digit = (unsigned)(uint8_t)p[n] - '0', letter = ((unsigned)(uint8_t)p[n] | 32) - 'a';
        if (digit > 9 && letter > 5) return -1;
        value = 16 * value + (int32_t)(digit < 10 ? digit : letter + 10);
    }
    return value;
}

/* Write a character as UTF-8: where the next one goes. */
static char *write_character(char *to, uint32_t code) {
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t FIRST[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(FIRST[more] | code >> 6 * more);
    while (more--) *to++ = (char)(0x80 | (code >> 6 * more & 0x3F));
    return to;
}

/* Read what follows a backslash, and write it: where the text goes on, or NULL. */
static const char *read_escape(const char *p, char **to) {
    static const char LETTERS[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    const char *letter = *p ? strchr(LETTERS, *p) : NULL;
    if (letter) return *(*to)++ = MEANT[letter - LETTERS], p + 1;
    int32_t code = *p == 'u' ? read_hexadecimal(p + 1) : -1, second;
    if (code <= 0 || (code >= 0xDC00 && code < 0xE000)) return NULL;
    p += 5;
    if (code >= 0xD800 && code < 0xDC00) {
        second = p[0] == '\\' && p[1] == 'u' ? read_hexadecimal(p + 2) : -1;
        if (second < 0xDC00 || second >= 0xE000) return NULL;
        code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
        p += 6;
    }
    *to = write_character(*to, (uint32_t)code);
    return p;
}

static inline const char *plain_text(const char *p) {
    while (*p != '"' && *p != '\\' && (uint8_t)*p >= ' ') p++;
    return p;
}

/* Read a JSON text from behind its first quote: where it ends behind the last one, or NULL. */
static const char *json_text(Block *block, const char *p, Slice *text) {
    const char *end = plain_text(p);
    *text = (Slice){p, (size_t)(end - p)};
    if (*end == '"') return end + 1;
    char *copy = spare_cell(block), *to = copy;
    while (copy) {
        memcpy(to, p, (size_t)(end - p));
        to += end - p;
        if (*end == '"') return *text = written_cell(block, copy, to), end + 1;
        if (*end != '\\' || !(p = read_escape(end + 1, &to))) return NULL;
        end = plain_text(p);
    }
    return NULL;
}

static inline const char *digits_end(const char *p) {
    while ((unsigned)(uint8_t)*p - '0' < 10) p++;
    return p;
}

/* Read a JSON number: where it ends; NULL if it is none, or so long that it may be read as something else. */
static const char *json_number(const char *p, uint8_t *kind) {
    const char *first = p + (*p == '-'), *end = digits_end(first);
    if (end == first || (*first == '0' && end > first + 1) || end - first > 18) return NULL;
    *kind = A_WHOLE;
    if (*end != '.' && *end != 'e' && *end != 'E') return *p == '-' && *first == '0' ? NULL : end;
    *kind = A_FRACTION;
    if (*end == '.') {
        const char *behind = end + 1;
        if ((end = digits_end(behind)) == behind) return NULL;
    }
    if (*end == 'e' || *end == 'E') {
        const char *power = end + 1 + (end[1] == '-' || end[1] == '+');
        end = digits_end(power);
        if (end == power || end > power + 2) return NULL;
    }
    return end;
}

/* Read a JSON value that is no object and no list: where it ends, or NULL.  null is an empty text. */
static const char *json_value(Block *block, const char *p, Slice *value, uint8_t *kind) {
    if (*p == '"') return *kind = A_TEXT, json_text(block, p + 1, value);
    size_t length = 0;
    *kind = A_FLAG;
    if (!strncmp(p, "true", 4)) length = 4;
    if (!strncmp(p, "false", 5)) length = 5;
    if (!strncmp(p, "null", 4)) return *kind = 0, *value = (Slice){p, 0}, p + 4;
    const char *end = length ? p + length : json_number(p, kind);
    if (end) *value = (Slice){p, (size_t)(end - p)};
    return end;
}

static inline const char *skip_blanks(const char *p) {
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

/* Read a key, which is probably the given one, and the colon: the value, or NULL. */
static const char *json_key(Block *block, const char *p, size_t *number) {
    Slice key = {NULL, 0};
    size_t left = (size_t)(block->limit - p);
    if (*p++ != '"') return NULL;
    if (*number < block->n_fields) key = block->keys[*number];
    if (key.at && left > key.length + 2 && p[key.length] == '"' && same_exactly(p, key.at, key.length)) {
        p += key.length + 1;
    } else if ((p = json_text(block, p, &key))) {
        for (*number = 0; *number < block->n_fields; ++*number) {
            const Slice *known = &block->keys[*number];
            if (known->length == key.length && same_exactly(known->at, key.at, key.length)) break;
        }
    }
    p = p && *number < block->n_fields ? skip_blanks(p) : NULL;
    return p && *p == ':' ? skip_blanks(p + 1) : NULL;
}

/* Split a JSON object into the cells of its keys: where the next one begins, or NULL. */
static const char *split_object(Block *block, const char *p, Slice *cell) {
    uint64_t seen = 0;
    for (int role = 0; role < N_ROLES; role++) cell[role] = (Slice){p, 0};
    p = skip_blanks(p);
    if (*p != '{') return NULL;
    for (size_t number = 0;; number++) {
        Slice value;
        uint8_t kind;
        p = json_key(block, skip_blanks(p + 1), &number);
        if (!p || seen >> number & 1 || !(p = json_value(block, p, &value, &kind))) return NULL;
        seen |= (uint64_t)1 << number;
        block->kinds[number] |= kind;
        cell[block->roles[number]] = value;
        p = skip_blanks(p);
        if (*p == '}') break;
        if (*p != ',') return NULL;
    }
    p = skip_blanks(p + 1);
    p += *p == '\r';
    return *p == '\n' ? p + 1 : NULL;
}

/* Whether each key has values of one kind, which fits its role: others may be turned into text in other ways. */
static int kinds_fit(const Block *block) {
    static const uint8_t WANTED[] = {A_TEXT | A_WHOLE, A_TEXT | A_WHOLE, A_TEXT | A_WHOLE, A_WHOLE | A_FLAG, A_WHOLE,
                                     A_WHOLE | A_FRACTION, 15};
    for (size_t n = 0; block->keys && n < block->n_fields; n++) {
        uint8_t kind = block->kinds[n], role = block->roles[n];
        int is_one = !(kind & (kind - 1)) || kind == (A_WHOLE | A_FRACTION) || (kind == (A_TEXT | A_WHOLE) && role <= OF_DOC);
        if (!is_one || kind & ~WANTED[role]) return 0;
    }
    return 1;
}

/* A whole number from 1 on of few digits, or 0. */
static int32_t read_rank(Slice text) {
    int32_t value = 0;
    if (text.length > 9) return 0;
    for (size_t n = 0; n < text.length; n++) {
        if (text.at[n] < '0' || text.at[n] > '9') return 0;
        value = 10 * value + (text.at[n] - '0');
    }
    return value;
}

/* A flag in one of the usual words: 1 and 0, or -1. */
static int read_flag(Slice text) {
    static const char *WORDS[] = {"false", "true", "no", "yes"};
    if (text.length == 1) return *text.at == '1' ? 1 : *text.at == '0' ? 0 : -1;
    for (int word = 0; word < 4; word++) {
        size_t n = 0;
        while (n < text.length && WORDS[word][n] && (text.at[n] | 32) == WORDS[word][n]) n++;
        if (n == text.length && n && !WORDS[word][n]) return word & 1;
    }
    return -1;
}

/* Read the cells of a row that are no names. */
static int read_numbers(const ClickCounter *self, Block *block, const Slice *cell, const Row *form, Row *row) {
    Slice dwell = cell[DWELL];
    int clicked = read_flag(cell[CLICKED]);
    row->flags = clicked == 1 ? WAS_CLICKED : 0;
    row->rank = form->rank ? read_rank(cell[AT_RANK]) : 0;
    if (clicked < 0 || (form->rank && !row->rank)) return ODD_LOG;
    if (!form->flags || !dwell.length || (dwell.length == 1 && *dwell.at == '-')) return FINE;
    unsigned first = (unsigned)(uint8_t)*dwell.at - '0', last = (unsigned)(uint8_t)dwell.at[dwell.length - 1] - '0';
    double seconds;
    int done = first < 10 && last < 10 ? read_number(dwell, &seconds, &block->unlocked) : ODD_LOG;
    if (done != FINE) return done;
    row->flags |= WITH_DWELL | (clicked && seconds * block->unit >= self->dwell ? SATISFIED : 0);
    return FINE;
}

static inline int same_text(Slice one, Slice other) {
    return one.length == other.length && same_exactly(one.at, other.at, one.length);
}

/* A cell that is a name; padded: as in entry_of. */
static inline NameCell cell_of(const Names *names, Slice text, int padded) {
    uint64_t hashed;
    Named entry = entry_of(&names->keys, text, padded, &hashed);
    return (NameCell){entry, text};
}

/* The last stretch of a batch, or NULL. */
static inline Stretch *last_stretch(const Batch *batch) {
    return batch->stretches.used ? (Stretch *)(void *)(batch->stretches.data + batch->stretches.used) - 1 : NULL;
}

/* Add a row with its document; before: the session and topic of the row before it.  NULL no memory. */
static inline Row *add_row(const ClickCounter *self, Batch *batch, const Slice *cell, Slice *before, int padded) {
    Stretch *last = last_stretch(batch);
    int goes_on = last && same_text(cell[IN_SESSION], before[IN_SESSION]);
    uint64_t session = goes_on ? last->session : hash_exactly(&self->keys, cell[IN_SESSION]);
    if (!goes_on || !same_text(cell[IN_TOPIC], before[IN_TOPIC])) {
        last = grow(&batch->stretches, sizeof *last);
        if (!last) return NULL;
        *last = (Stretch){session, cell_of(self->topics, cell[IN_TOPIC], 0), 0};
        memcpy(before, cell, 2 * sizeof *cell);
    }
    last->n_rows++;
    Row *row = grow(&batch->rows, sizeof *row);
    if (row) row->doc = cell_of(self->docs, cell[OF_DOC], padded);
    return row;
}

/* Read all rows of a block before any is counted, since one that is odd leaves the block to another reader. */
static int read_block(const ClickCounter *self, Block *block, const Row *form, Batch *batch) {
    const char *p = block->begin;
    Slice cell[N_ROLES + 1], before[2];
    while (p < block->limit) {
        const char *line = p + (*p == '\r');
        if (*line == '\n') {
            p = line + 1;
            continue;
        }
        p = block->keys ? split_object(block, p, cell) : split_fields(block, p, cell);
        if (!p) return block->no_memory ? NO_MEMORY : ODD_LOG;
        if (!cell[IN_SESSION].length || !cell[IN_TOPIC].length || !cell[OF_DOC].length) return ODD_LOG;
        if (cell[IN_TOPIC].length > self->longest || cell[OF_DOC].length > self->longest) return ODD_LOG;
        Row *row = add_row(self, batch, cell, before, !block->spare && block->limit - cell[OF_DOC].at > SHORT);
        int done = row ? read_numbers(self, block, cell, form, row) : NO_MEMORY;
        if (done != FINE) return done;
    }
    return kinds_fit(block) ? FINE : ODD_LOG;
}

/* Let go of what rows are in. */
static void empty_batch(Batch *batch) {
    struct ArrowArray *arrays = (struct ArrowArray *)(void *)batch->arrays.data;
    for (size_t n = 0; n < batch->arrays.used / sizeof *arrays; n++) arrays[n].release(&arrays[n]);
    free(batch->spare);
    PyBuffer_Release(&batch->text);
    batch->spare = NULL;
    batch->rows.used = batch->stretches.used = batch->arrays.used = 0;
}

static uint64_t topic_hash(const ClickCounter *self, const Stretch *stretch) {
    return hash_exactly(&self->keys, stretch->topic.text);
}

/* How many rows are known of the last page of those that were read. */
static int64_t rows_of_page(const ClickCounter *self, const Batch *batch) {
    const Stretch *stretches = (const Stretch *)(void *)batch->stretches.data;
    size_t count = batch->stretches.used / sizeof *stretches;
    if (!count) return self->n_read;
    int goes_on = count == 1 && stretches->session == self->read_session && topic_hash(self, stretches) == self->read_topic;
    return (int64_t)stretches[count - 1].n_rows + (goes_on ? self->n_read : 0);
}

/* A batch is filled: its number, from 1 on. */
static int batch_is_read(ClickCounter *self, int64_t of_page) {
    self->filled = !self->filled;
    const Stretch *last = last_stretch(&self->batches[self->filled]);
    if (last) self->read_session = last->session, self->read_topic = topic_hash(self, last);
    self->n_read = of_page;
    return self->filled + 1;
}

/* Read a block, whose last page may have so many rows: the number of the batch, ODD_LOG, NO_MEMORY. */
static int scan_block(ClickCounter *self, Block *block, int64_t most) {
    Row form = {0};
    Batch *batch = &self->batches[!self->filled];
    for (size_t n = 0; n < block->n_fields; n++) {
        form.rank |= block->roles[n] == AT_RANK;
        form.flags |= block->roles[n] == DWELL;
    }
    int done = read_block(self, block, &form, batch);
    batch->spare = block->spare;
    if (done != FINE) return done;
    int64_t of_page = rows_of_page(self, batch);
    return of_page > most ? ODD_LOG : batch_is_read(self, of_page);
}

/* The keys of objects as slices of Python's bytes: 1 done, 0 the error. */
static int keys_at(PyObject *keys, Py_ssize_t count, Slice *slices) {
    for (Py_ssize_t n = 0; n < count; n++) {
        PyObject *key = PyTuple_GetItem(keys, n);
        char *at;
        Py_ssize_t length;
        if (!key || PyBytes_AsStringAndSize(key, &at, &length)) return 0;
        slices[n] = (Slice){at, (size_t)length};
    }
    return 1;
}

static PyObject *clicks_scan(PyObject *object, PyObject *args) {
    PyObject *data, *of_field, *keys;
    int separator;
    long long most;
    Block block = {0};
    Slice slices[MOST_KEYS];
    if (!PyArg_ParseTuple(args, "OSCOdpL:scan", &data, &of_field, &separator, &keys, &block.unit, &block.quoted, &most)) {
        return NULL;
    }
    const char *roles = PyBytes_AsString(of_field);
    Py_ssize_t n_fields = PyBytes_Size(of_field);
    int is_json = keys != Py_None, needed = 1 << IN_SESSION | 1 << IN_TOPIC | 1 << OF_DOC | 1 << CLICKED;
    for (Py_ssize_t n = 0; n < n_fields; n++) {
        int role = (uint8_t)roles[n];
        needed = role > N_ROLES ? -1 : needed & ~(1 << role);
        if (needed < 0) break;
    }
    if (needed || separator > 127 || separator == '\n' || separator == '"') {
        return PyErr_SetString(PyExc_ValueError, "fields with roles and a separator are expected"), NULL;
    }
    if (is_json && (!PyTuple_Check(keys) || PyTuple_Size(keys) != n_fields || n_fields > MOST_KEYS)) {
        return PyErr_SetString(PyExc_ValueError, "a key of each field is expected"), NULL;
    }
    if (is_json && !keys_at(keys, n_fields, slices)) return NULL;
    ClickCounter *self = (ClickCounter *)object;
    Batch *batch = &self->batches[!self->filled];
    Py_buffer *view = &batch->text;
    empty_batch(batch);
    if (!view_of(data, "data", "B", 1, view)) return NULL;
    block.begin = view->buf, block.limit = block.begin + view->len;
    block.roles = (const uint8_t *)roles, block.n_fields = (size_t)n_fields;
    block.separator = (char)separator, block.keys = is_json ? slices : NULL;
    int done = ODD_LOG;
    if (view->len && block.limit[-1] == '\n') {
        block.unlocked = PyEval_SaveThread();
        block.with_cr = memchr(block.begin, '\r', (size_t)view->len) != NULL;
        done = scan_block(self, &block, most);
        PyEval_RestoreThread(block.unlocked);
    }
    if (done != self->filled + 1) empty_batch(batch);
    if (done == NO_MEMORY) return PyErr_NoMemory();
    return PyErr_CheckSignals() ? NULL : PyLong_FromLong(done);
}

/* ---- click logs: columns to rows ------------------------------------------------------------------------------------- */

/* A column of text, in one or several arrays: its layout, and the next row. */
typedef struct {
    const struct ArrowArray *array;
    int64_t row;
    char layout;
} Column;

/* Take the arrays of a column: how many rows they have, -1 the error. */
static int64_t take_arrays(PyObject *capsule, Array *arrays, char *layout) {
    struct ArrowArrayStream *stream;
    int64_t n_rows = 0;
    *layout = text_layout(capsule, &stream);
    while (*layout) {
        struct ArrowArray array = {0}, *place;
        if (stream->get_next(stream, &array)) return PyErr_SetString(PyExc_ValueError, "the column cannot be read"), -1;
        if (!array.release) return n_rows;
        if (!(place = grow(arrays, sizeof *place))) return array.release(&array), PyErr_NoMemory(), -1;
        *place = array;
        n_rows += array.length;
    }
    return -1;
}

/* The next cell of a column, which has one; at NULL: it is null. */
static inline Slice next_cell(Column *column) {
    for (; column->row == column->array->length; column->row = 0) column->array++;
    const struct ArrowArray *array = column->array;
    int64_t row = array->offset + column->row++;
    const uint8_t *valid = array->null_count ? array->buffers[0] : NULL;
    if (valid && !(valid[row >> 3] >> (row & 7) & 1)) return (Slice){NULL, 0};
    Slice text = text_at(array, column->layout, row);
    return text.at ? text : (Slice){"", 0}; /* an array of empty texts may have no bytes */
}

/* Whether a name has no zero byte, and is not too long. */
static inline int name_fits(const ClickCounter *self, Slice name) {
    return name.length <= self->longest && !memchr(name.at, 0, name.length);
}

/* Make rows of columns: FINE, NO_MEMORY, ODD_LOG if a name does not fit, WRONG if it is null or a rank is not positive. */
enum { WRONG = -2 };
static int read_columns(const ClickCounter *self, Batch *batch, Column *columns, const Py_buffer *rank, const Py_buffer *flags) {
    const uint8_t *bits = flags->buf;
    const int32_t *ranks = rank->buf;
    Slice cell[N_ROLES + 1], before[2];
    for (Py_ssize_t n = 0; n < flags->len; n++) {
        for (int role = IN_SESSION; role <= OF_DOC; role++) {
            cell[role] = next_cell(&columns[role]);
            if (!cell[role].at) return WRONG;
        }
        if (ranks && ranks[n] < 1) return WRONG;
        size_t n_stretches = batch->stretches.used;
        Row *row = add_row(self, batch, cell, before, columns[OF_DOC].layout == 'v');
        if (!row) return NO_MEMORY;
        row->rank = ranks ? ranks[n] : 0, row->flags = bits[n];
        if (!name_fits(self, cell[OF_DOC])) return ODD_LOG;
        if (batch->stretches.used > n_stretches && !name_fits(self, cell[IN_TOPIC])) return ODD_LOG;
    }
    return FINE;
}

/* Make rows of the names of three columns: as read_columns, or WRONG and the error. */
static int read_arrays(const ClickCounter *self, Batch *batch, PyObject **names, const Py_buffer *rank, const Py_buffer *flags) {
    Column columns[3] = {{0}};
    size_t begin[3];
    for (int n = 0; n < 3; n++) {
        begin[n] = batch->arrays.used;
        int64_t n_rows = take_arrays(names[n], &batch->arrays, &columns[n].layout);
        if (n_rows < 0) return WRONG;
        if (n_rows != flags->len || (rank->buf && rank->len != 4 * flags->len)) {
            return PyErr_SetString(PyExc_ValueError, "the columns differ in length"), WRONG;
        }
    }
    for (int n = 0; n < 3 && flags->len; n++) columns[n].array = (struct ArrowArray *)(void *)(batch->arrays.data + begin[n]);
    PyThreadState *unlocked = PyEval_SaveThread();
    int done = read_columns(self, batch, columns, rank, flags);
    PyEval_RestoreThread(unlocked);
    if (done == NO_MEMORY) PyErr_NoMemory();
    if (done == WRONG) PyErr_SetString(PyExc_ValueError, "a name is null, or a rank is not positive");
    return done;
}

static PyObject *clicks_read(PyObject *object, PyObject *args) {
    ClickCounter *self = (ClickCounter *)object;
    PyObject *names[3], *rank, *flags, *found = NULL;
    if (!PyArg_ParseTuple(args, "OOOOO:read", &names[0], &names[1], &names[2], &rank, &flags)) return NULL;
    Batch *batch = &self->batches[!self->filled];
    empty_batch(batch);
    Py_buffer ranks = {0}, bits = {0};
    if (rank != Py_None && !view_of(rank, "rank", "il", 4, &ranks)) return NULL;
    int done = view_of(flags, "flags", "B", 1, &bits) ? read_arrays(self, batch, names, &ranks, &bits) : WRONG;
    if (done == FINE && !PyErr_CheckSignals()) {
        int number = batch_is_read(self, rows_of_page(self, batch));
        found = Py_BuildValue("iL", number, (long long)self->n_read);
    } else {
        empty_batch(batch);
        if (done == ODD_LOG) found = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&bits);
    PyBuffer_Release(&ranks);
    return found;
}

/* ---- click logs: all counts ------------------------------------------------------------------------------------------- */

static PyObject *clicks_count(PyObject *object, PyObject *args) {
    ClickCounter *self = (ClickCounter *)object;
    int number, has_dwell;
    if (!PyArg_ParseTuple(args, "ip:count", &number, &has_dwell)) return NULL;
    if (number < 1 || number > 2) return PyErr_SetString(PyExc_ValueError, "there are no such rows"), NULL;
    Batch *batch = &self->batches[number - 1];
    PyThreadState *unlocked = PyEval_SaveThread();
    self->has_dwell |= has_dwell;
    int done = count_rows(self, batch);
    PyEval_RestoreThread(unlocked);
    empty_batch(batch);
    return done ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyObject *clicks_end(PyObject *object, PyObject *nothing) {
    (void)nothing;
    ((ClickCounter *)object)->n_read = 0;
    return end_page((ClickCounter *)object) ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

/* Items without what is known of pages. */
static PyObject *item_counts(const ClickCounter *self) {
    size_t count = self->items.used / sizeof(Item);
    PyObject *found = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(ItemCounts)));
    char *to = found ? PyBytes_AsString(found) : NULL;
    for (size_t n = 0; to && n < count; n++, to += sizeof(ItemCounts)) {
        const Item *item = (const Item *)self->items.data + n;
        ItemCounts counts = {item->counts, item->topic, (int32_t)(item->doc.number & ~LONG_NAME) - 1};
        memcpy(to, &counts, sizeof counts);
    }
    return found;
}

static PyObject *clicks_counts(PyObject *object, PyObject *nothing) {
    (void)nothing;
    ClickCounter *self = (ClickCounter *)object;
    if (!end_page(self)) return PyErr_NoMemory();
    const Array *all[] = {NULL, &self->ranks, &self->lists, &self->places, &self->sessions, &self->last};
    PyObject *found = PyTuple_New(9);
    int64_t numbers[] = {self->n_rows, self->n_repeats, self->n_unknown};
    for (Py_ssize_t n = 0; found && n < 9; n++) {
        PyObject *part = !n      ? item_counts(self)
                         : n < 6 ? PyBytes_FromStringAndSize(all[n]->data, (Py_ssize_t)all[n]->used)
                                 : PyLong_FromLongLong(numbers[n - 6]);
        if (!part || PyTuple_SetItem(found, n, part)) Py_CLEAR(found);
    }
    return found;
}

static PyObject *clicks_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *topics, *docs, *seed;
    Py_ssize_t longest;
    double dwell;
    if (keywords && PyDict_Size(keywords)) {
        return PyErr_SetString(PyExc_TypeError, "ClickCounter takes no keyword arguments"), NULL;
    }
    if (!PyArg_ParseTuple(args, "OOOdn:ClickCounter", &topics, &docs, &seed, &dwell, &longest)) return NULL;
    PyObject *module = PyType_GetModule(type), *names = module ? PyObject_GetAttrString(module, "Names") : NULL;
    if (!names) return NULL;
    int named = (PyObject *)Py_TYPE(topics) == names && (PyObject *)Py_TYPE(docs) == names;
    Py_DECREF(names);
    if (!named || longest < 1) return PyErr_SetString(PyExc_ValueError, "names and a length are expected"), NULL;
    ClickCounter *self = (ClickCounter *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    self->topics = (Names *)Py_NewRef(topics), self->docs = (Names *)Py_NewRef(docs);
    self->longest = (size_t)longest, self->dwell = dwell;
    if (keys_of(seed, &self->keys)) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void clicks_dealloc(PyObject *object) {
    ClickCounter *self = (ClickCounter *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (int n = 0; n < 2; n++) empty_batch(&self->batches[n]);
    Array *all[] = {&self->items, &self->ranks, &self->lists, &self->places, &self->sessions, &self->last, &self->page,
                    &self->firsts, &self->batches[0].rows, &self->batches[0].stretches, &self->batches[0].arrays,
                    &self->batches[1].rows, &self->batches[1].stretches, &self->batches[1].arrays};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) free(all[n]->data);
    free(self->items_at.cells);
    free(self->lists_at.cells);
    free(self->ranks_at.cells);
    Py_XDECREF((PyObject *)self->topics);
    Py_XDECREF((PyObject *)self->docs);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef clicks_methods[] = {
    {"scan", clicks_scan, METH_VARARGS, "Read rows of text, UTF-8: their number, 1 or 2; 0 if they are to be read in another way."},
    {"read", clicks_read, METH_VARARGS,
     "Read rows of columns: their number, and how many the last page has; None if a name has a zero byte or is too long."},
    {"count", clicks_count, METH_VARARGS, "Count rows that were read, by their number: while others are read, too."},
    {"end", clicks_end, METH_NOARGS, "End a log, and with it a page."},
    {"counts", clicks_counts, METH_NOARGS, "All counts."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot clicks_slots[] = {
    {Py_tp_doc, "Counts of a click log so far."},
    {Py_tp_new, clicks_new},
    {Py_tp_dealloc, clicks_dealloc},
    {Py_tp_methods, clicks_methods},
    {0, NULL},
};

static PyType_Spec clicks_spec = {"venire.scan._scan.ClickCounter", sizeof(ClickCounter), 0, Py_TPFLAGS_DEFAULT, clicks_slots};

static PyMethodDef module_methods[] = {
    {"ordered_rows", ordered_rows, METH_VARARGS, "Sort the rows of some groups by two columns; do two agree?"},
    {"ordered_names", ordered_names, METH_VARARGS, "Number the names of some groups by group and bytewise, and copy them in this order."},
    {"compacted", compacted, METH_VARARGS, "Copy slices of bytes, all or those chosen, and their ends, int64."},
    {"gathered", gathered, METH_VARARGS, "Copy the cells of a table that codes name into another array."},
    {"counted", count_codes, METH_VARARGS, "Count how often each code occurs, int32."},
    {"homes", homes, METH_VARARGS, "The one group in which each code occurs, int32, -1 for none; None if one has two."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module) {
    PyType_Spec *specs[] = {&scanner_spec, &names_spec, &clicks_spec};
    const char *called[] = {"Scanner", "Names", "ClickCounter"};
    for (size_t n = 0; n < 3; n++) {
        PyObject *type = PyType_FromModuleAndSpec(module, specs[n], NULL);
        int failed = !type || PyModule_AddObjectRef(module, called[n], type) < 0;
        Py_XDECREF(type);
        if (failed) return -1;
    }
    return 0;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* a scanner does not change, but for a flag; every scan has its own state; names belong to one thread */
#endif
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_scan", "Scanning run lines; see scan/lists.py for what it means.", 0, module_methods, module_slots,
    NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__scan(void) { return PyModuleDef_Init(&module); }
