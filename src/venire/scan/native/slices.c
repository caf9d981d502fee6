/* Copying slices of bytes into a buffer of their own.  Copyright the Venire developers; Apache-2.0. */

#include "arguments.h"
#include "module.h"

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

PyObject *compacted(PyObject *module, PyObject *args) {
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
