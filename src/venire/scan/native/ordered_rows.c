/* Sorting rows by two columns of codes.  Copyright the Venire developers; Apache-2.0. */

#include "arguments.h"
#include "module.h"

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

PyObject *ordered_rows(PyObject *module, PyObject *args) {
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
