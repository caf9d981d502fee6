/* The type ClickCounter: batches of rows, and all counts.  Copyright the Venire developers; Apache-2.0. */

#include "clicks.h"
#include "arguments.h"
#include "arrow.h"
#include "module.h"

void empty_batch(Batch *batch) {
    struct ArrowArray *arrays = (struct ArrowArray *)(void *)batch->arrays.data;
    for (size_t n = 0; n < batch->arrays.used / sizeof *arrays; n++) arrays[n].release(&arrays[n]);
    free(batch->spare);
    PyBuffer_Release(&batch->text);
    batch->spare = NULL;
    batch->rows.used = batch->stretches.used = batch->arrays.used = 0;
}

static uint64_t topic_hash(const ClickCounter *self, const Stretch *stretch) {
    return hash_exactly(&self->keys, stretch->topic.text);
}

int64_t rows_of_page(const ClickCounter *self, const Batch *batch) {
    const Stretch *stretches = (const Stretch *)(void *)batch->stretches.data;
    size_t count = batch->stretches.used / sizeof *stretches;
    if (!count) return self->n_read;
    int goes_on = count == 1 && stretches->session == self->read_session && topic_hash(self, stretches) == self->read_topic;
    return (int64_t)stretches[count - 1].n_rows + (goes_on ? self->n_read : 0);
}

int batch_is_read(ClickCounter *self, int64_t of_page) {
    self->filled = !self->filled;
    const Stretch *last = last_stretch(&self->batches[self->filled]);
    if (last) self->read_session = last->session, self->read_topic = topic_hash(self, last);
    self->n_read = of_page;
    return self->filled + 1;
}

static PyObject *clicks_count(PyObject *object, PyObject *args) {
    ClickCounter *self = (ClickCounter *)object;
    int number, has_dwell;
    if (!PyArg_ParseTuple(args, "ip:count", &number, &has_dwell)) return NULL;
    if (number < 1 || number > 2) return PyErr_SetString(PyExc_ValueError, "there are no such rows"), NULL;
    Batch *batch = &self->batches[number - 1];
    PyThreadState *unlocked = PyEval_SaveThread();
    self->has_dwell |= has_dwell;
    int done = count_rows(self, batch);
    PyEval_RestoreThread(unlocked);
    empty_batch(batch);
    return done ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyObject *clicks_end(PyObject *object, PyObject *nothing) {
    (void)nothing;
    ((ClickCounter *)object)->n_read = 0;
    return end_page((ClickCounter *)object) ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyObject *clicks_counts(PyObject *object, PyObject *nothing) {
    (void)nothing;
    ClickCounter *self = (ClickCounter *)object;
    if (!end_page(self)) return PyErr_NoMemory();
    const Array *all[] = {NULL, &self->ranks, &self->lists, &self->places, &self->sessions, &self->last};
    PyObject *found = PyTuple_New(9);
    int64_t numbers[] = {self->n_rows, self->n_repeats, self->n_unknown};
    for (Py_ssize_t n = 0; found && n < 9; n++) {
        PyObject *part = !n      ? item_counts(self)
                         : n < 6 ? PyBytes_FromStringAndSize(all[n]->data, (Py_ssize_t)all[n]->used)
                                 : PyLong_FromLongLong(numbers[n - 6]);
        if (!part || PyTuple_SetItem(found, n, part)) Py_CLEAR(found);
    }
    return found;
}

static PyObject *clicks_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *topics, *docs, *seed;
    Py_ssize_t longest;
    double dwell;
    if (keywords && PyDict_Size(keywords)) {
        return PyErr_SetString(PyExc_TypeError, "ClickCounter takes no keyword arguments"), NULL;
    }
    if (!PyArg_ParseTuple(args, "OOOdn:ClickCounter", &topics, &docs, &seed, &dwell, &longest)) return NULL;
    PyObject *module = PyType_GetModule(type), *names = module ? PyObject_GetAttrString(module, "Names") : NULL;
    if (!names) return NULL;
    int named = (PyObject *)Py_TYPE(topics) == names && (PyObject *)Py_TYPE(docs) == names;
    Py_DECREF(names);
    if (!named || longest < 1) return PyErr_SetString(PyExc_ValueError, "names and a length are expected"), NULL;
    ClickCounter *self = (ClickCounter *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    self->topics = (Names *)Py_NewRef(topics), self->docs = (Names *)Py_NewRef(docs);
    self->longest = (size_t)longest, self->dwell = dwell;
    if (keys_of(seed, &self->keys)) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void clicks_dealloc(PyObject *object) {
    ClickCounter *self = (ClickCounter *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (int n = 0; n < 2; n++) empty_batch(&self->batches[n]);
    Array *all[] = {&self->items, &self->ranks, &self->lists, &self->places, &self->sessions, &self->last, &self->page,
                    &self->firsts, &self->batches[0].rows, &self->batches[0].stretches, &self->batches[0].arrays,
                    &self->batches[1].rows, &self->batches[1].stretches, &self->batches[1].arrays};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) free(all[n]->data);
    free(self->items_at.cells);
    free(self->lists_at.cells);
    free(self->ranks_at.cells);
    Py_XDECREF((PyObject *)self->topics);
    Py_XDECREF((PyObject *)self->docs);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef clicks_methods[] = {
    {"scan", clicks_scan, METH_VARARGS, "Read rows of text, UTF-8: their number, 1 or 2; 0 if they are to be read in another way."},
    {"read", clicks_read, METH_VARARGS,
     "Read rows of columns: their number, and how many the last page has; None if a name has a zero byte or is too long."},
    {"count", clicks_count, METH_VARARGS, "Count rows that were read, by their number: while others are read, too."},
    {"end", clicks_end, METH_NOARGS, "End a log, and with it a page."},
    {"counts", clicks_counts, METH_NOARGS, "All counts."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot clicks_slots[] = {
    {Py_tp_doc, "Counts of a click log so far."},
    {Py_tp_new, clicks_new},
    {Py_tp_dealloc, clicks_dealloc},
    {Py_tp_methods, clicks_methods},
    {0, NULL},
};

PyType_Spec clicks_spec = {"venire.scan._scan.ClickCounter", sizeof(ClickCounter), 0, Py_TPFLAGS_DEFAULT, clicks_slots};
