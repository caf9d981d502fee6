/* Taking arguments from Python.  Copyright the Venire developers; Apache-2.0. */

#include "arguments.h"

/* Take a contiguous view: its type, as a code of the struct module, or NULL and the error. */
static const char *take_view(PyObject *object, const char *name, Py_buffer *view) {
    if (PyObject_GetBuffer(object, view, PyBUF_ND | PyBUF_FORMAT) == 0) return view->format ? view->format : "B";
    if (PyErr_ExceptionMatches(PyExc_BufferError)) PyErr_Format(PyExc_ValueError, "%s is not contiguous", name);
    return NULL;
}

int view_of(PyObject *object, const char *name, const char *codes, Py_ssize_t size, Py_buffer *view) {
    const char *format = take_view(object, name, view);
    if (!format) return 0;
    if (view->ndim == 1 && view->itemsize == size && format[0] && !format[1] && strchr(codes, format[0])) return 1;
    const char *type = *codes == 'd' ? "numbers" : "integers";
    PyErr_Format(PyExc_TypeError, "%s is not a one-dimensional array of %zd-byte %s", name, size, type);
    PyBuffer_Release(view);
    return 0;
}

int bytes_of(PyObject *object, const char *name, Py_buffer *view) {
    if (!view_of(object, name, "B", 1, view)) return 0;
    if (view->len >= PADDING) return 1;
    PyErr_Format(PyExc_ValueError, "%s does not end in %d bytes of padding", name, PADDING);
    return 0;
}

int integers_of(PyObject *object, const char *name, size_t size, Py_buffer *view) {
    return view_of(object, name, size == 8 ? "lq" : "il", (Py_ssize_t)size, view);
}

int codes_of(PyObject *object, const char *name, Py_buffer *view) {
    const char *format = take_view(object, name, view);
    if (!format) return 0;
    if (view->ndim == 1 && view->itemsize <= 4 && format[0] && !format[1] && strchr("bhil", format[0])) return 1;
    PyErr_Format(PyExc_TypeError, "%s is not a one-dimensional array of integers of 1, 2 or 4 bytes", name);
    PyBuffer_Release(view);
    return 0;
}

int array_to(PyObject *object, size_t count, size_t size, Py_buffer *view) {
    if (PyObject_GetBuffer(object, view, PyBUF_ND | PyBUF_WRITABLE) < 0) return 0;
    if (view->ndim == 1 && (size_t)view->itemsize == size && (size_t)view->len == count * size) return 1;
    return PyErr_Format(PyExc_ValueError, "what is written to has not as many numbers, or not of %zu bytes", size), 0;
}

void leave(Places *places) {
    PyBuffer_Release(&places->end);
    PyBuffer_Release(&places->start);
}

int places_of(const Py_buffer *bytes, PyObject *start, PyObject *end, Places *places) {
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

Slice *slices_of(const Py_buffer *bytes, PyObject *start, PyObject *end, size_t *count) {
    Places places;
    if (!places_of(bytes, start, end, &places)) return NULL;
    Slice *slices = calloc(places.count + 1, sizeof *slices);
    if (!slices) PyErr_NoMemory();
    for (size_t n = 0; slices && n < places.count; n++) slices[n] = slice_at(&places, n);
    *count = places.count;
    leave(&places);
    return slices;
}

int keys_of(PyObject *seed, Keys *keys) {
    keys->seed = PyLong_AsUnsignedLongLong(seed);
    if (PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError)) PyErr_SetString(PyExc_ValueError, "seed is not of 64 bits");
        return 0;
    }
    for (size_t n = 0; n < KEPT; n++) keys->kept[n] = make_key(keys->seed, n);
    return 1;
}
