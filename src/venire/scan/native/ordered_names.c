/* Sorting names within groups.  Copyright the Venire developers; Apache-2.0. */

#include "arguments.h"
#include "module.h"

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

PyObject *ordered_names(PyObject *module, PyObject *args) {
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
