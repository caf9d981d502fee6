/* The Arrow C data interface: what any library of data frames hands over, without a copy (arrow.apache.org, "The Arrow
 * C data interface" and "The Arrow C stream interface").  Copyright the Venire developers; Apache-2.0. */

#ifndef VENIRE_ARROW_H
#define VENIRE_ARROW_H

#include "bytes.h"

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

/* The layout of a column of text, and its stream; 0 the error. */
static inline char text_layout(PyObject *capsule, struct ArrowArrayStream **stream) {
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

#endif
