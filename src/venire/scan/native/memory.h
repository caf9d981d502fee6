/* Memory: arrays that grow, large pages, and fetching ahead of use.  Copyright the Venire developers; Apache-2.0. */

#ifndef VENIRE_MEMORY_H
#define VENIRE_MEMORY_H

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif
#include <Python.h> /* no format has '#': its meaning before Python 3.13 depends on the headers of the build */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#ifndef PROBED
#define PROBED() ((void)0) /* a step through a hash table, which a test build counts */
#endif

typedef struct {
    char *data;
    size_t used, room; /* in bytes */
} Array;

/* Make room for so many bytes more: where they are, or NULL if there is no memory. */
static inline void *grow(Array *array, size_t size) {
    if (size > array->room - array->used) {
        if (array->room > (SIZE_MAX - 4096 - size) / 2) return NULL;
        size_t room = (array->room ? 2 * array->room : 4096) + size;
        char *data = realloc(array->data, room);
        if (!data) return NULL;
        array->data = data;
        array->room = room;
    }
    array->used += size;
    return array->data + array->used - size;
}

static inline int push(Array *array, int32_t value) {
    int32_t *place = grow(array, sizeof value);
    if (place) *place = value;
    return place != NULL;
}

#if defined(__GNUC__)
#define FETCH(p) __builtin_prefetch(p)
#else
#define FETCH(p) ((void)0)
#endif
enum { AHEAD = 32 }; /* rows whose cells are fetched together */

/* Ask for large pages, where the system has them: a table is read in no order. */
static inline void in_large_pages(void *start, size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    uintptr_t first = ((uintptr_t)start + 4095) & ~(uintptr_t)4095, end = (uintptr_t)start + size;
    if (size >= (size_t)1 << 23) (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)start, (void)size;
#endif
}

#endif
