/* The type Scanner: what is looked for in runs, and what is found.  Copyright the Venire developers; Apache-2.0. */

#include "lists.h"
#include "module.h"

enum { ITEMS_AT_ONCE = 1 << 16 }; /* between two looks for signals, where the lock is held */

static inline int interrupted(size_t n) { return n % ITEMS_AT_ONCE == ITEMS_AT_ONCE - 1 && PyErr_CheckSignals() < 0; }

/* ---- what is found ------------------------------------------------------------------------------------------- */

static PyObject *as_bytes(const Array *array) {
    return PyBytes_FromStringAndSize(array->data, (Py_ssize_t)array->used);
}

/* Names of the lists, every second from the first on: topics from 0, tags from 1. */
static PyObject *names_from(const Scan *scan, size_t first) {
    const Slice *names = (const Slice *)scan->names.data;
    size_t count = scan->names.used / (2 * sizeof *names);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t n = 0; list && n < count; n++) {
        Slice name = names[2 * n + first];
        PyObject *text = PyBytes_FromStringAndSize(name.at, (Py_ssize_t)name.length);
        if (!text || PyList_SetItem(list, (Py_ssize_t)n, text) < 0 || interrupted(n)) Py_CLEAR(list);
    }
    return list;
}

static PyObject *fault_of(const Scan *scan) {
    if (!scan->fault) return Py_NewRef(Py_None);
    return Py_BuildValue("(LsL)", (long long)scan->fault_line, scan->fault, (long long)scan->fault_detail);
}

/* Put a new value, or none after an error, into a tuple: 1 done, 0 the error. */
static int put(PyObject *tuple, Py_ssize_t place, PyObject *value) {
    return value && PyTuple_SetItem(tuple, place, value) == 0;
}

static PyObject *result_of(const Scan *scan) {
    const Array *numbers[] = {&scan->topic, &scan->depth, &scan->level, &scan->owner, &scan->rank, &scan->item};
    PyObject *result = PyTuple_New(10);
    int whole = result && put(result, 0, names_from(scan, 0)) && put(result, 1, names_from(scan, 1));
    for (Py_ssize_t n = 0; whole && n < 6; n++) whole = put(result, n + 2, as_bytes(numbers[n]));
    whole = whole && put(result, 8, PyLong_FromLongLong(scan->n_lines)) && put(result, 9, fault_of(scan));
    if (!whole) Py_CLEAR(result);
    return result;
}

/* Scan lines or rows by a function, without the lock, and return what is found. */
static PyObject *scan_by(int (*function)(Scan *, const void *), PyObject *self, const char *data, const void *end) {
    Scan scan = {.scanner = (const Scanner *)self, .data = data, .topic_number = -1, .list = 1};
    scan.unlocked = PyEval_SaveThread();
    int done = (!scan.scanner->stopped || handle_signals(&scan)) && function(&scan, end);
    PyEval_RestoreThread(scan.unlocked);
    PyObject *result = done ? result_of(&scan) : PyErr_Occurred() ? NULL : PyErr_NoMemory();
    Array *arrays[] = {&scan.entries, &scan.hits,  &scan.ranks, &scan.spare, &scan.scores, &scan.names,
                       &scan.topic,   &scan.depth, &scan.level, &scan.owner,  &scan.rank,   &scan.item};
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++) free(arrays[n]->data);
    free(scan.seen);
    return result;
}

static PyObject *scanner_scan(PyObject *self, PyObject *data) {
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(data, &bytes, &size) < 0) return NULL;
    if (size && bytes[size - 1] != '\n') {
        PyErr_SetString(PyExc_ValueError, "the last line has no line end");
        return NULL;
    }
    return scan_by(scan_lines, self, bytes, bytes + size);
}

static void release_rows(Rows *rows) {
    for (size_t n = 0; n < 3; n++) {
        if (rows->text[n].end.obj) leave(&rows->text[n]);
        if (rows->bytes[n].obj) PyBuffer_Release(&rows->bytes[n]);
    }
    if (rows->score.obj) PyBuffer_Release(&rows->score);
}

/* Find the columns of rows, all of the same length: 1 done, 0 the error. */
static int rows_of(PyObject *const *columns, PyObject *score, Rows *rows) {
    for (size_t n = 0; n < 3; n++) {
        const char *const names[] = {"topic", "system", "doc"};
        PyObject *const *column = columns + 3 * n;
        if (!bytes_of(column[0], names[n], &rows->bytes[n])) return 0;
        if (!places_of(&rows->bytes[n], column[1], column[2], &rows->text[n])) return 0;
    }
    if (!view_of(score, "score", "d", sizeof(double), &rows->score)) return 0;
    size_t count = (size_t)rows->score.len / sizeof(double);
    if (rows->text[0].count == count && rows->text[1].count == count && rows->text[2].count == count) return 1;
    PyErr_SetString(PyExc_ValueError, "the columns differ in length");
    return 0;
}

static PyObject *scanner_scan_rows(PyObject *self, PyObject *args) {
    PyObject *columns[9], *score;
    if (!PyArg_ParseTuple(args, "OOOOOOOOOO:scan_rows", &columns[0], &columns[1], &columns[2], &columns[3], &columns[4],
                          &columns[5], &columns[6], &columns[7], &columns[8], &score)) {
        return NULL;
    }
    Rows rows = {0};
    PyObject *result = rows_of(columns, score, &rows) ? scan_by(scan_rows, self, NULL, &rows) : NULL;
    release_rows(&rows);
    return result;
}

static PyObject *scanner_stop(PyObject *self, PyObject *nothing) {
    (void)nothing;
    ((Scanner *)self)->stopped = 1;
    return Py_NewRef(Py_None);
}

/* ---- what is looked for -------------------------------------------------------------------------------------- */

/* Cells for so many entries, less than 2^31. */
static uint64_t room_for(size_t count) {
    uint64_t room = 2;
    while (room < 2 * (uint64_t)count) room *= 2;
    return count ? room : 0;
}

/* Count the items of each topic: 1 done, 0 the error. */
static int count_items(const Scanner *self, const Py_buffer *topic_of, uint32_t *count) {
    if ((size_t)topic_of->len / sizeof(int32_t) != self->n_items) {
        PyErr_SetString(PyExc_ValueError, "item_topic and the documents differ in length");
        return 0;
    }
    for (size_t n = 0; n < self->n_items; n++) {
        int32_t topic = ((const int32_t *)topic_of->buf)[n];
        if (topic < 0 || (size_t)topic >= self->n_topics) {
            PyErr_Format(PyExc_ValueError, "item %zu has topic %d of %zu", n, (int)topic, self->n_topics);
            return 0;
        }
        count[topic]++;
    }
    return 1;
}

/* Fill the tables: the topics by name, and the items of each topic, all in one stretch of cells.  1 done, 0 the
 * error. */
static int fill_tables(Scanner *self, const int32_t *topic_of, const uint32_t *count) {
    uint64_t total = room_for(self->n_topics);
    for (size_t n = 0; n < self->n_topics; n++) total += room_for(count[n]);
    Cell *cells = self->cells = total < SIZE_MAX ? calloc((size_t)total + 1, sizeof *cells) : NULL;
    self->by_topic = calloc(self->n_topics + 1, sizeof *self->by_topic);
    if (!cells || !self->by_topic) return PyErr_NoMemory(), 0;
    if (self->n_topics) self->by_name = (Table){cells, (uint32_t)(room_for(self->n_topics) - 1)};
    cells += room_for(self->n_topics);
    for (size_t n = 0; n < self->n_topics; n++) {
        if (count[n]) self->by_topic[n] = (Table){cells, (uint32_t)(room_for(count[n]) - 1)};
        cells += room_for(count[n]);
    }
    for (size_t n = 0; n < self->n_topics; n++) {
        enter(self->by_name, hash(&self->keys, self->topics[n]), n);
        if (interrupted(n)) return 0;
    }
    for (size_t n = 0; n < self->n_items; n++) {
        enter(self->by_topic[topic_of[n]], hash(&self->keys, self->docs[n]), n);
        if (interrupted(n)) return 0;
    }
    return 1;
}

static int index_items(Scanner *self, PyObject *item_topic) {
    Py_buffer topic_of;
    if (!integers_of(item_topic, "item_topic", sizeof(int32_t), &topic_of)) return 0;
    uint32_t *count = calloc(self->n_topics + 1, sizeof *count);
    if (!count) PyErr_NoMemory();
    int done = count && count_items(self, &topic_of, count) && fill_tables(self, topic_of.buf, count);
    free(count);
    PyBuffer_Release(&topic_of);
    return done;
}

/* Read an integer from 1 to a limit: 1 done, 0 the error. */
static int limit_of(PyObject *object, const char *name, long long largest, long long *value) {
    int overflow = 0;
    *value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (*value == -1 && !overflow && PyErr_Occurred()) return 0;
    if (!overflow && *value >= 1 && *value <= largest) return 1;
    PyErr_Format(PyExc_ValueError, "%s is not from 1 to %lld", name, largest);
    return 0;
}

static PyObject *scanner_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *topic_bytes, *topic_start, *topic_end, *item_topic, *doc_bytes, *doc_start, *doc_end;
    PyObject *by_rank, *single_precision, *keep_first, *longest_line, *most_lines, *seed;
    if (keywords && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "Scanner takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OOOOOOOO!O!O!OOO:Scanner", &topic_bytes, &topic_start, &topic_end, &item_topic,
                          &doc_bytes, &doc_start, &doc_end, &PyBool_Type, &by_rank, &PyBool_Type, &single_precision,
                          &PyBool_Type, &keep_first, &longest_line, &most_lines, &seed)) {
        return NULL;
    }
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Scanner *self = (Scanner *)alloc(type, 0);
    if (!self) return NULL;
    self->by_rank = by_rank == Py_True;
    self->single_precision = single_precision == Py_True;
    self->keep_first = keep_first == Py_True;
    if (limit_of(longest_line, "longest_line", 1 << 30, &self->longest_line) &&
        limit_of(most_lines, "most_lines", INT32_MAX, &self->most_lines) && keys_of(seed, &self->keys) &&
        bytes_of(topic_bytes, "topic_bytes", &self->topic_bytes) && bytes_of(doc_bytes, "doc_bytes", &self->doc_bytes) &&
        (self->topics = slices_of(&self->topic_bytes, topic_start, topic_end, &self->n_topics)) &&
        (self->docs = slices_of(&self->doc_bytes, doc_start, doc_end, &self->n_items)) && index_items(self, item_topic)) {
        return (PyObject *)self;
    }
    Py_DECREF(self);
    return NULL;
}

static void scanner_dealloc(PyObject *object) {
    Scanner *self = (Scanner *)object;
    PyTypeObject *type = Py_TYPE(object);
    free(self->topics);
    free(self->docs);
    free(self->cells);
    free(self->by_topic);
    if (self->topic_bytes.obj) PyBuffer_Release(&self->topic_bytes);
    if (self->doc_bytes.obj) PyBuffer_Release(&self->doc_bytes);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef scanner_methods[] = {
    {"scan", scanner_scan, METH_O, "Scan the bytes of whole lists."},
    {"scan_rows", scanner_scan_rows, METH_VARARGS, "Scan rows of whole lists, in columns."},
    {"stop", scanner_stop, METH_NOARGS, "End the scans of all threads soon; each raises RuntimeError."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot scanner_slots[] = {
    {Py_tp_doc, "What a scan looks for, and the rules it goes by."},
    {Py_tp_new, scanner_new},
    {Py_tp_dealloc, scanner_dealloc},
    {Py_tp_methods, scanner_methods},
    {0, NULL},
};

PyType_Spec scanner_spec = {"venire.scan._scan.Scanner", sizeof(Scanner), 0, Py_TPFLAGS_DEFAULT, scanner_slots};
