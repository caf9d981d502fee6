/* Click logs: columns to rows.  Copyright the Venire developers; Apache-2.0. */

#include "arguments.h"
#include "arrow.h"
#include "clicks.h"

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
    Slice cell[N_ROLES + 1], before[2] = {{NULL, 0}, {NULL, 0}};
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

PyObject *clicks_read(PyObject *object, PyObject *args) {
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
