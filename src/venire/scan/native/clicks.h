/* Click logs: rows that were read, and what is counted of them.
 *
 * One thread reads rows, of text or of columns, into a batch; another may count those of the batch before.
 * Copyright the Venire developers; Apache-2.0. */

#ifndef VENIRE_CLICKS_H
#define VENIRE_CLICKS_H

#include "names.h"

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

/* What is known under a hash: a number from 1 on. */
typedef struct {
    uint64_t hashed;
    uint32_t number;
} Known;

typedef struct {
    Known *cells;
    size_t room; /* a power of two, at least twice the number of cells that are filled */
} Index;

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

/* ---- reading ------------------------------------------------------------------------------------------------- */

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

/* Let go of what rows are in. */
void empty_batch(Batch *batch);

/* How many rows are known of the last page of those that were read. */
int64_t rows_of_page(const ClickCounter *self, const Batch *batch);

/* A batch is filled: its number, from 1 on. */
int batch_is_read(ClickCounter *self, int64_t of_page);

PyObject *clicks_scan(PyObject *object, PyObject *args);
PyObject *clicks_read(PyObject *object, PyObject *args);

/* ---- counting ------------------------------------------------------------------------------------------------ */

/* Count rows, whose first items and topics are fetched together: 1 done, 0 no memory. */
int count_rows(ClickCounter *self, const Batch *batch);

/* Count the results of the page, by rank: 1 done, 0 no memory. */
int end_page(ClickCounter *self);

/* Items without what is known of pages. */
PyObject *item_counts(const ClickCounter *self);

#endif
