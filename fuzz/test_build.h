/* A build of the compiled scan for tests, by -include: allocations that fail, and counts.
 *
 * Set fail_at to n, and the n-th allocation from then on returns NULL; 0: none does.  It counts down.  What is held is
 * in held, steps through hash tables are in probes.  Copyright the Venire developers; Apache-2.0. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>

__attribute__((common)) long fail_at, held, probes; /* of all files together */

static int fails(void) { return fail_at > 0 && --fail_at == 0; }

static void *counted(void *block) {
    held += block != NULL;
    return block;
}

static void *malloc_or_fail(size_t size) { return fails() ? NULL : counted(malloc(size)); }
static void *calloc_or_fail(size_t count, size_t size) { return fails() ? NULL : counted(calloc(count, size)); }
static void *realloc_or_fail(void *block, size_t size) {
    if (fails()) return NULL;
    return block ? realloc(block, size) : counted(malloc(size));
}
static void free_counted(void *block) {
    held -= block != NULL;
    free(block);
}

#define malloc malloc_or_fail
#define calloc calloc_or_fail
#define realloc realloc_or_fail
#define free free_counted
#define PROBED() (probes++)
