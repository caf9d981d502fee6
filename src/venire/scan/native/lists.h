/* What a scan of runs looks for, and its state.  Copyright the Venire developers; Apache-2.0. */

#ifndef VENIRE_LISTS_H
#define VENIRE_LISTS_H

#include "arguments.h"
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_ATOMICS__)
#include <stdatomic.h>
typedef atomic_int Flag;
#else
typedef volatile int Flag;
#endif

typedef struct {
    uint32_t tag;    /* the upper half of the hash */
    uint32_t number; /* from 1; 0: empty */
} Cell;

typedef struct {
    Cell *cells; /* of one topic; none if it has no items */
    uint32_t mask;
} Table;

/* What is looked for, and the rules. */
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

static inline void enter(Table table, uint64_t mixed, size_t number) {
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

typedef struct {
    uint32_t list, entry; /* both less than 2^31; whose document this is; entries of other lists than the current one are ignored */
} Seen;

/* One scan: the current list, and what is found. */
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

/* Rows of a run in columns: topic, tag and document, with padded bytes, and the score. */
typedef struct {
    Py_buffer bytes[3], score;
    Places text[3];
} Rows;

/* Handle signals: 1 done, 0 the scan is to end, and the exception is set. */
int handle_signals(Scan *scan);

/* Scan all lines up to a limit: 1 done, or stopped at a fault; 0 no memory, or the scan is to end. */
int scan_lines(Scan *scan, const void *end);

/* Scan all rows: as scan_lines. */
int scan_rows(Scan *scan, const void *all);

#endif
