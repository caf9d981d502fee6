/* The module venire.scan._scan.
 *
 * Functions that are called for every line, row or name are inline, in headers; others that files share are hidden
 * outside of the module (setup.py).  Written against the stable ABI: one build serves every Python from 3.11 on;
 * setup.py says which builds are not.  Copyright the Venire developers; Apache-2.0. */

#include "module.h"

static PyMethodDef module_methods[] = {
    {"ordered_rows", ordered_rows, METH_VARARGS, "Sort the rows of some groups by two columns; do two agree?"},
    {"ordered_names", ordered_names, METH_VARARGS, "Number the names of some groups by group and bytewise, and copy them in this order."},
    {"compacted", compacted, METH_VARARGS, "Copy slices of bytes, all or those chosen, and their ends, int64."},
    {"gathered", gathered, METH_VARARGS, "Copy the cells of a table that codes name into another array."},
    {"counted", count_codes, METH_VARARGS, "Count how often each code occurs, int32."},
    {"homes", homes, METH_VARARGS, "The one group in which each code occurs, int32, -1 for none; None if one has two."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module) {
    PyType_Spec *specs[] = {&scanner_spec, &names_spec, &clicks_spec};
    const char *called[] = {"Scanner", "Names", "ClickCounter"};
    for (size_t n = 0; n < 3; n++) {
        PyObject *type = PyType_FromModuleAndSpec(module, specs[n], NULL);
        int failed = !type || PyModule_AddObjectRef(module, called[n], type) < 0;
        Py_XDECREF(type);
        if (failed) return -1;
    }
    return 0;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* a scanner does not change, but for a flag; every scan has its own state; names belong to one thread */
#endif
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_scan", "Scanning run lines; see scan/lists.py for what it means.", 0, module_methods, module_slots,
    NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__scan(void) { return PyModuleDef_Init(&module); }
