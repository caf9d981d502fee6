/* What the module is made of: three types and six functions.  Copyright the Venire developers; Apache-2.0. */

#ifndef VENIRE_MODULE_H
#define VENIRE_MODULE_H

#include <Python.h>

extern PyType_Spec scanner_spec, names_spec, clicks_spec;

PyObject *ordered_rows(PyObject *module, PyObject *args);
PyObject *ordered_names(PyObject *module, PyObject *args);
PyObject *compacted(PyObject *module, PyObject *args);
PyObject *gathered(PyObject *module, PyObject *args);
PyObject *count_codes(PyObject *module, PyObject *args);
PyObject *homes(PyObject *module, PyObject *args);

#endif
