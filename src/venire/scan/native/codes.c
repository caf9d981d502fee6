/* Columns of codes, integers of 1, 2 or 4 bytes.  Copyright the Venire developers; Apache-2.0. */

#include "arguments.h"
#include "module.h"

/* Copy cells of a table of n by codes, which count from the end if they are negative: 1 done, 0 a wrong code. */
static inline int gather(const char *table, size_t n, size_t size, const void *codes, size_t width, size_t rows, char *out) {
    for (size_t row = 0; row < rows; row++) {
        int64_t code = code_at(codes, width, row);
        if (code < 0) code += (int64_t)n;
        if (code < 0 || (size_t)code >= n) return 0;
        memcpy(out + row * size, table + (size_t)code * size, size);
    }
    return 1;
}

#define BY_SIZE(WIDTH)                                                        \
    (size == 1   ? gather(table, n, 1, codes, WIDTH, rows, out)               \
     : size == 2 ? gather(table, n, 2, codes, WIDTH, rows, out)               \
     : size == 4 ? gather(table, n, 4, codes, WIDTH, rows, out)               \
                 : gather(table, n, 8, codes, WIDTH, rows, out))

static int gather_any(const char *table, size_t n, size_t size, const void *codes, size_t width, size_t rows, char *out) {
    return width == 1 ? BY_SIZE(1) : width == 2 ? BY_SIZE(2) : BY_SIZE(4);
}

PyObject *gathered(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *tables, *coded, *outs;
    Py_buffer table, codes, out;
    int done = -1;
    if (!PyArg_ParseTuple(args, "OOO:gathered", &tables, &coded, &outs)) return NULL;
    if (PyObject_GetBuffer(tables, &table, PyBUF_ND) < 0) return NULL;
    if (!codes_of(coded, "codes", &codes)) return PyBuffer_Release(&table), NULL;
    if (PyObject_GetBuffer(outs, &out, PyBUF_ND | PyBUF_WRITABLE) < 0) {
        return PyBuffer_Release(&codes), PyBuffer_Release(&table), NULL;
    }
    size_t size = (size_t)table.itemsize, rows = (size_t)(codes.len / codes.itemsize);
    if (table.ndim != 1 || (size != 1 && size != 2 && size != 4 && size != 8)) {
        PyErr_SetString(PyExc_TypeError, "table is not a one-dimensional array of numbers");
    } else if ((size_t)out.itemsize != size || (size_t)out.len / size != rows) {
        PyErr_SetString(PyExc_ValueError, "out is not as long as codes, or not of the table's type");
    } else {
        PyThreadState *unlocked = PyEval_SaveThread();
        done = gather_any(table.buf, (size_t)table.len / size, size, codes.buf, (size_t)codes.itemsize, rows, out.buf);
        PyEval_RestoreThread(unlocked);
        if (!done) PyErr_SetString(PyExc_IndexError, "a code is not within the table");
    }
    PyBuffer_Release(&out);
    PyBuffer_Release(&codes);
    PyBuffer_Release(&table);
    return done == 1 ? Py_NewRef(Py_None) : NULL;
}

static inline int count_all(const void *codes, size_t width, size_t rows, size_t n, int32_t *counts) {
    for (size_t row = 0; row < rows; row++) {
        int32_t code = code_at(codes, width, row);
        if (code < 0 || (size_t)code >= n) return 0;
        counts[code]++;
    }
    return 1;
}

PyObject *count_codes(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *coded, *found = NULL;
    Py_ssize_t n;
    Py_buffer codes;
    if (!PyArg_ParseTuple(args, "On:counted", &coded, &n)) return NULL;
    if (!codes_of(coded, "codes", &codes)) return NULL;
    size_t width = (size_t)codes.itemsize, rows = (size_t)codes.len / width;
    if (n < 0 || n >= INT32_MAX || rows >= INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "there are too many codes");
    } else if ((found = PyBytes_FromStringAndSize(NULL, n * (Py_ssize_t)sizeof(int32_t)))) {
        int32_t *counts = (int32_t *)PyBytes_AsString(found);
        PyThreadState *unlocked = PyEval_SaveThread();
        memset(counts, 0, (size_t)n * sizeof *counts);
        int done = width == 1   ? count_all(codes.buf, 1, rows, (size_t)n, counts)
                   : width == 2 ? count_all(codes.buf, 2, rows, (size_t)n, counts)
                                : count_all(codes.buf, 4, rows, (size_t)n, counts);
        PyEval_RestoreThread(unlocked);
        if (!done) PyErr_SetString(PyExc_IndexError, "a code is not below the number of names");
        if (!done) Py_CLEAR(found);
    }
    PyBuffer_Release(&codes);
    return found;
}

/* The one group of each name, -1 where it has no row: 1 done, 0 a name has two groups, -1 a wrong code. */
static inline int find_homes(const void *group, size_t group_width, const void *codes, size_t width, size_t rows, size_t n,
                             int32_t *homes) {
    for (size_t row = 0; row < rows; row++) {
        int32_t code = code_at(codes, width, row), home = code_at(group, group_width, row);
        if (code < 0 || (size_t)code >= n || home < 0) return -1;
        if (homes[code] != home) {
            if (homes[code] >= 0) return 0;
            homes[code] = home;
        }
    }
    return 1;
}

PyObject *homes(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *grouped, *coded, *found = NULL;
    Py_ssize_t n;
    Py_buffer group, codes;
    if (!PyArg_ParseTuple(args, "OOn:homes", &grouped, &coded, &n)) return NULL;
    if (!codes_of(grouped, "group", &group)) return NULL;
    if (!codes_of(coded, "codes", &codes)) return PyBuffer_Release(&group), NULL;
    size_t wide = (size_t)group.itemsize, width = (size_t)codes.itemsize, rows = (size_t)codes.len / width;
    if (n < 0 || n >= INT32_MAX || (size_t)group.len / wide != rows) {
        PyErr_SetString(PyExc_ValueError, "group and codes differ in length, or there are too many names");
    } else if ((found = PyBytes_FromStringAndSize(NULL, n * (Py_ssize_t)sizeof(int32_t)))) {
        int32_t *home = (int32_t *)PyBytes_AsString(found);
        PyThreadState *unlocked = PyEval_SaveThread();
        memset(home, 255, (size_t)n * sizeof *home);
        int done = wide == 2 && width == 4 ? find_homes(group.buf, 2, codes.buf, 4, rows, (size_t)n, home)
                                           : find_homes(group.buf, wide, codes.buf, width, rows, (size_t)n, home);
        PyEval_RestoreThread(unlocked);
        if (done < 0) PyErr_SetString(PyExc_IndexError, "a code is negative, or not below the number of names");
        if (done < 1) Py_CLEAR(found);
        if (!done) found = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&codes);
    PyBuffer_Release(&group);
    return found;
}
