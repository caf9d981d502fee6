/* The type Names: columns of text to codes.  Copyright the Venire developers; Apache-2.0. */

#include "names.h"
#include "arguments.h"
#include "arrow.h"
#include "module.h"

int names_rehash(Names *self, size_t room) {
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

PyType_Spec names_spec = {"venire.scan._scan.Names", sizeof(Names), 0, Py_TPFLAGS_DEFAULT, names_slots};
