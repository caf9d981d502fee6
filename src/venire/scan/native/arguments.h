/* Arguments from Python: arrays of numbers, slices of bytes, seeds.
 *
 * Functions return 1, or 0 and the error; a view is to be released then.
 * Copyright the Venire developers; Apache-2.0. */

#ifndef VENIRE_ARGUMENTS_H
#define VENIRE_ARGUMENTS_H

#include "bytes.h"

enum { PADDING = 8 }; /* bytes that may be read behind the last slice */

/* A one-dimensional contiguous array of numbers of a type, named by its codes in the struct module. */
int view_of(PyObject *object, const char *name, const char *codes, Py_ssize_t size, Py_buffer *view);

/* Bytes that end in padding; the view is to be released after an error, too. */
int bytes_of(PyObject *object, const char *name, Py_buffer *view);

int integers_of(PyObject *object, const char *name, size_t size, Py_buffer *view);

/* Integers of 1, 2 or 4 bytes. */
int codes_of(PyObject *object, const char *name, Py_buffer *view);

static inline int32_t code_at(const void *codes, size_t width, size_t row) {
    return width == 1 ? ((const int8_t *)codes)[row] : width == 2 ? ((const int16_t *)codes)[row] : ((const int32_t *)codes)[row];
}

/* An array of so many numbers of a size to write to; the view is to be released after an error, too. */
int array_to(PyObject *object, size_t count, size_t size, Py_buffer *view);

/* Slices where they are: padded bytes, and two arrays of int64 that say where each begins and ends. */
typedef struct {
    const char *bytes;
    Py_buffer start, end;
    size_t count;
} Places;

/* Find slices, all within the bytes; they are to be left then. */
int places_of(const Py_buffer *bytes, PyObject *start, PyObject *end, Places *places);

void leave(Places *places);

static inline Slice slice_at(const Places *places, size_t n) {
    int64_t from = ((const int64_t *)places->start.buf)[n], to = ((const int64_t *)places->end.buf)[n];
    return (Slice){places->bytes + from, (size_t)(to - from)};
}

/* Make slices of padded bytes and two arrays of int64, start and end; NULL and the error. */
Slice *slices_of(const Py_buffer *bytes, PyObject *start, PyObject *end, size_t *count);

/* Keys from a seed of 64 bits. */
int keys_of(PyObject *seed, Keys *keys);

#endif
