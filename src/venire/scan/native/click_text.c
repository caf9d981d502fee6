/* Click logs: lines of CSV, TSV or JSON to rows.  Copyright the Venire developers; Apache-2.0. */

#include "arguments.h"
#include "clicks.h"
#include "numbers.h"

/* Kinds of JSON values, but for null. */
enum { A_TEXT = 1, A_WHOLE = 2, A_FRACTION = 4, A_FLAG = 8, MOST_KEYS = 64 };

/* A block of whole lines: CSV or TSV, whose fields have roles, or a JSON object on each, whose keys have. */
typedef struct {
    const char *begin, *limit;
    const uint8_t *roles; /* N_ROLES for none */
    size_t n_fields;
    char separator;
    int quoted, with_cr;
    const Slice *keys; /* NULL if it is not JSON */
    uint8_t kinds[MOST_KEYS];
    char *spare; /* where cells are written that have quotes or escapes in them */
    size_t spare_used;
    double unit;
    int no_memory;
    PyThreadState *unlocked;
} Block;

/* Begin to write a cell; all cells of the block have room.  NULL no memory. */
static char *spare_cell(Block *block) {
    if (!block->spare) block->spare = malloc((size_t)(block->limit - block->begin) + SHORT + 1);
    block->no_memory = !block->spare;
    return block->spare ? block->spare + block->spare_used : NULL;
}

/* End a cell that was written: with a zero, at which the reading of numbers stops. */
static Slice written_cell(Block *block, char *begin, char *end) {
    *end = 0;
    block->spare_used = (size_t)(end - block->spare) + 1;
    return (Slice){begin, (size_t)(end - begin)};
}

/* Read a quoted cell from behind its first quote: where it ends behind the last one, or NULL. */
static const char *quoted_cell(Block *block, const char *p, Slice *text) {
    const char *end = memchr(p, '"', (size_t)(block->limit - p));
    if (!end) return NULL;
    *text = (Slice){p, (size_t)(end - p)};
    if (end[1] != '"') return end + 1;
    char *copy = spare_cell(block), *to = copy;
    if (!copy) return NULL;
    for (; end && end[1] == '"'; p = end + 2, end = memchr(p, '"', (size_t)(block->limit - p))) {
        memcpy(to, p, (size_t)(end + 1 - p));
        to += end + 1 - p;
    }
    if (!end) return NULL;
    memcpy(to, p, (size_t)(end - p));
    *text = written_cell(block, copy, to + (end - p));
    return end + 1;
}

/* Where a cell without quotes ends: at a separator or at the end of the line. */
static inline const char *cell_end(const char *p, const char *limit, char separator) {
#if defined(__SSE2__) && defined(__GNUC__)
    const __m128i separators = _mm_set1_epi8(separator), ends = _mm_set1_epi8('\n');
    for (; limit - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        int found = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, separators), _mm_cmpeq_epi8(bytes, ends)));
        if (found) return p + __builtin_ctz((unsigned)found);
    }
#endif
    (void)limit;
    while (*p != separator && *p != '\n') p++;
    return p;
}

/* Read a cell without quotes; a carriage return belongs to the end of a line. */
static inline const char *plain_cell(const Block *block, const char *p, Slice *text) {
    const char *start = p;
    p = cell_end(p, block->limit, block->separator);
    size_t length = (size_t)(p - start);
    if (block->with_cr && *p == '\n' && length && p[-1] == '\r') length--;
    *text = (Slice){start, length};
    if (block->quoted && memchr(start, '"', length)) return NULL;
    return block->with_cr && memchr(start, '\r', length) ? NULL : p;
}

/* Split a row of CSV or TSV into its cells: where the next one begins, or NULL. */
static const char *split_fields(Block *block, const char *p, Slice *cell) {
    for (size_t field = 0; field < block->n_fields; field++, p++) {
        Slice text;
        if (block->quoted && *p == '"') {
            p = quoted_cell(block, p + 1, &text);
            if (p && p[0] == '\r' && p[1] == '\n') p++;
        } else {
            p = plain_cell(block, p, &text);
        }
        if (!p || *p != (field + 1 == block->n_fields ? '\n' : block->separator)) return NULL;
        cell[block->roles[field]] = text;
    }
    return p;
}

/* Four hexadecimal digits, or -1. */
static int32_t read_hexadecimal(const char *p) {
    int32_t value = 0;
    for (int n = 0; n < 4; n++) {
        unsigned digit = (unsigned)(uint8_t)p[n] - '0', letter = ((unsigned)(uint8_t)p[n] | 32) - 'a';
        if (digit > 9 && letter > 5) return -1;
        value = 16 * value + (int32_t)(digit < 10 ? digit : letter + 10);
    }
    return value;
}

/* Write a character as UTF-8: where the next one goes. */
static char *write_character(char *to, uint32_t code) {
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t FIRST[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(FIRST[more] | code >> 6 * more);
    while (more--) *to++ = (char)(0x80 | (code >> 6 * more & 0x3F));
    return to;
}

/* Read what follows a backslash, and write it: where the text goes on, or NULL. */
static const char *read_escape(const char *p, char **to) {
    static const char LETTERS[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    const char *letter = *p ? strchr(LETTERS, *p) : NULL;
    if (letter) return *(*to)++ = MEANT[letter - LETTERS], p + 1;
    int32_t code = *p == 'u' ? read_hexadecimal(p + 1) : -1, second;
    if (code <= 0 || (code >= 0xDC00 && code < 0xE000)) return NULL;
    p += 5;
    if (code >= 0xD800 && code < 0xDC00) {
        second = p[0] == '\\' && p[1] == 'u' ? read_hexadecimal(p + 2) : -1;
        if (second < 0xDC00 || second >= 0xE000) return NULL;
        code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
        p += 6;
    }
    *to = write_character(*to, (uint32_t)code);
    return p;
}

static inline const char *plain_text(const char *p) {
    while (*p != '"' && *p != '\\' && (uint8_t)*p >= ' ') p++;
    return p;
}

/* Read a JSON text from behind its first quote: where it ends behind the last one, or NULL. */
static const char *json_text(Block *block, const char *p, Slice *text) {
    const char *end = plain_text(p);
    *text = (Slice){p, (size_t)(end - p)};
    if (*end == '"') return end + 1;
    char *copy = spare_cell(block), *to = copy;
    while (copy) {
        memcpy(to, p, (size_t)(end - p));
        to += end - p;
        if (*end == '"') return *text = written_cell(block, copy, to), end + 1;
        if (*end != '\\' || !(p = read_escape(end + 1, &to))) return NULL;
        end = plain_text(p);
    }
    return NULL;
}

static inline const char *digits_end(const char *p) {
    while ((unsigned)(uint8_t)*p - '0' < 10) p++;
    return p;
}

/* Read a JSON number: where it ends; NULL if it is none, or so long that it may be read as something else. */
static const char *json_number(const char *p, uint8_t *kind) {
    const char *first = p + (*p == '-'), *end = digits_end(first);
    if (end == first || (*first == '0' && end > first + 1) || end - first > 18) return NULL;
    *kind = A_WHOLE;
    if (*end != '.' && *end != 'e' && *end != 'E') return *p == '-' && *first == '0' ? NULL : end;
    *kind = A_FRACTION;
    if (*end == '.') {
        const char *behind = end + 1;
        if ((end = digits_end(behind)) == behind) return NULL;
    }
    if (*end == 'e' || *end == 'E') {
        const char *power = end + 1 + (end[1] == '-' || end[1] == '+');
        end = digits_end(power);
        if (end == power || end > power + 2) return NULL;
    }
    return end;
}

/* Read a JSON value that is no object and no list: where it ends, or NULL.  null is an empty text. */
static const char *json_value(Block *block, const char *p, Slice *value, uint8_t *kind) {
    if (*p == '"') return *kind = A_TEXT, json_text(block, p + 1, value);
    size_t length = 0;
    *kind = A_FLAG;
    if (!strncmp(p, "true", 4)) length = 4;
    if (!strncmp(p, "false", 5)) length = 5;
    if (!strncmp(p, "null", 4)) return *kind = 0, *value = (Slice){p, 0}, p + 4;
    const char *end = length ? p + length : json_number(p, kind);
    if (end) *value = (Slice){p, (size_t)(end - p)};
    return end;
}

static inline const char *skip_blanks(const char *p) {
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

/* Read a key, which is probably the given one, and the colon: the value, or NULL. */
static const char *json_key(Block *block, const char *p, size_t *number) {
    Slice key = {NULL, 0};
    size_t left = (size_t)(block->limit - p);
    if (*p++ != '"') return NULL;
    if (*number < block->n_fields) key = block->keys[*number];
    if (key.at && left > key.length + 2 && p[key.length] == '"' && same_exactly(p, key.at, key.length)) {
        p += key.length + 1;
    } else if ((p = json_text(block, p, &key))) {
        for (*number = 0; *number < block->n_fields; ++*number) {
            const Slice *known = &block->keys[*number];
            if (known->length == key.length && same_exactly(known->at, key.at, key.length)) break;
        }
    }
    p = p && *number < block->n_fields ? skip_blanks(p) : NULL;
    return p && *p == ':' ? skip_blanks(p + 1) : NULL;
}

/* Split a JSON object into the cells of its keys: where the next one begins, or NULL. */
static const char *split_object(Block *block, const char *p, Slice *cell) {
    uint64_t seen = 0;
    for (int role = 0; role < N_ROLES; role++) cell[role] = (Slice){p, 0};
    p = skip_blanks(p);
    if (*p != '{') return NULL;
    for (size_t number = 0;; number++) {
        Slice value;
        uint8_t kind;
        p = json_key(block, skip_blanks(p + 1), &number);
        if (!p || seen >> number & 1 || !(p = json_value(block, p, &value, &kind))) return NULL;
        seen |= (uint64_t)1 << number;
        block->kinds[number] |= kind;
        cell[block->roles[number]] = value;
        p = skip_blanks(p);
        if (*p == '}') break;
        if (*p != ',') return NULL;
    }
    p = skip_blanks(p + 1);
    p += *p == '\r';
    return *p == '\n' ? p + 1 : NULL;
}

/* Whether each key has values of one kind, which fits its role: others may be turned into text in other ways. */
static int kinds_fit(const Block *block) {
    static const uint8_t WANTED[] = {A_TEXT | A_WHOLE, A_TEXT | A_WHOLE, A_TEXT | A_WHOLE, A_WHOLE | A_FLAG, A_WHOLE,
                                     A_WHOLE | A_FRACTION, 15};
    for (size_t n = 0; block->keys && n < block->n_fields; n++) {
        uint8_t kind = block->kinds[n], role = block->roles[n];
        int is_one = !(kind & (kind - 1)) || kind == (A_WHOLE | A_FRACTION) || (kind == (A_TEXT | A_WHOLE) && role <= OF_DOC);
        if (!is_one || kind & ~WANTED[role]) return 0;
    }
    return 1;
}

/* A whole number from 1 on of few digits, or 0. */
static int32_t read_rank(Slice text) {
    int32_t value = 0;
    if (text.length > 9) return 0;
    for (size_t n = 0; n < text.length; n++) {
        if (text.at[n] < '0' || text.at[n] > '9') return 0;
        value = 10 * value + (text.at[n] - '0');
    }
    return value;
}

/* A flag in one of the usual words: 1 and 0, or -1. */
static int read_flag(Slice text) {
    static const char *WORDS[] = {"false", "true", "no", "yes"};
    if (text.length == 1) return *text.at == '1' ? 1 : *text.at == '0' ? 0 : -1;
    for (int word = 0; word < 4; word++) {
        size_t n = 0;
        while (n < text.length && WORDS[word][n] && (text.at[n] | 32) == WORDS[word][n]) n++;
        if (n == text.length && n && !WORDS[word][n]) return word & 1;
    }
    return -1;
}

/* Read the cells of a row that are no names. */
static int read_numbers(const ClickCounter *self, Block *block, const Slice *cell, const Row *form, Row *row) {
    Slice dwell = cell[DWELL];
    int clicked = read_flag(cell[CLICKED]);
    row->flags = clicked == 1 ? WAS_CLICKED : 0;
    row->rank = form->rank ? read_rank(cell[AT_RANK]) : 0;
    if (clicked < 0 || (form->rank && !row->rank)) return ODD_LOG;
    if (!form->flags || !dwell.length || (dwell.length == 1 && *dwell.at == '-')) return FINE;
    unsigned first = (unsigned)(uint8_t)*dwell.at - '0', last = (unsigned)(uint8_t)dwell.at[dwell.length - 1] - '0';
    double seconds;
    int done = first < 10 && last < 10 ? read_number(dwell, &seconds, &block->unlocked) : ODD_LOG;
    if (done != FINE) return done;
    row->flags |= WITH_DWELL | (clicked && seconds * block->unit >= self->dwell ? SATISFIED : 0);
    return FINE;
}

/* Read all rows of a block before any is counted, since one that is odd leaves the block to another reader. */
static int read_block(const ClickCounter *self, Block *block, const Row *form, Batch *batch) {
    const char *p = block->begin;
    Slice cell[N_ROLES + 1], before[2] = {{NULL, 0}, {NULL, 0}};
    while (p < block->limit) {
        const char *line = p + (*p == '\r');
        if (*line == '\n') {
            p = line + 1;
            continue;
        }
        p = block->keys ? split_object(block, p, cell) : split_fields(block, p, cell);
        if (!p) return block->no_memory ? NO_MEMORY : ODD_LOG;
        if (!cell[IN_SESSION].length || !cell[IN_TOPIC].length || !cell[OF_DOC].length) return ODD_LOG;
        if (cell[IN_TOPIC].length > self->longest || cell[OF_DOC].length > self->longest) return ODD_LOG;
        Row *row = add_row(self, batch, cell, before, !block->spare && block->limit - cell[OF_DOC].at > SHORT);
        int done = row ? read_numbers(self, block, cell, form, row) : NO_MEMORY;
        if (done != FINE) return done;
    }
    return kinds_fit(block) ? FINE : ODD_LOG;
}

/* Read a block, whose last page may have so many rows: the number of the batch, ODD_LOG, NO_MEMORY. */
static int scan_block(ClickCounter *self, Block *block, int64_t most) {
    Row form = {0};
    Batch *batch = &self->batches[!self->filled];
    for (size_t n = 0; n < block->n_fields; n++) {
        form.rank |= block->roles[n] == AT_RANK;
        form.flags |= block->roles[n] == DWELL;
    }
    int done = read_block(self, block, &form, batch);
    batch->spare = block->spare;
    if (done != FINE) return done;
    int64_t of_page = rows_of_page(self, batch);
    return of_page > most ? ODD_LOG : batch_is_read(self, of_page);
}

/* The keys of objects as slices of Python's bytes: 1 done, 0 the error. */
static int keys_at(PyObject *keys, Py_ssize_t count, Slice *slices) {
    for (Py_ssize_t n = 0; n < count; n++) {
        PyObject *key = PyTuple_GetItem(keys, n);
        char *at;
        Py_ssize_t length;
        if (!key || PyBytes_AsStringAndSize(key, &at, &length)) return 0;
        slices[n] = (Slice){at, (size_t)length};
    }
    return 1;
}

PyObject *clicks_scan(PyObject *object, PyObject *args) {
    PyObject *data, *of_field, *keys;
    int separator;
    long long most;
    Block block = {0};
    Slice slices[MOST_KEYS];
    if (!PyArg_ParseTuple(args, "OSCOdpL:scan", &data, &of_field, &separator, &keys, &block.unit, &block.quoted, &most)) {
        return NULL;
    }
    const char *roles = PyBytes_AsString(of_field);
    Py_ssize_t n_fields = PyBytes_Size(of_field);
    int is_json = keys != Py_None, needed = 1 << IN_SESSION | 1 << IN_TOPIC | 1 << OF_DOC | 1 << CLICKED;
    for (Py_ssize_t n = 0; n < n_fields; n++) {
        int role = (uint8_t)roles[n];
        needed = role > N_ROLES ? -1 : needed & ~(1 << role);
        if (needed < 0) break;
    }
    if (needed || separator > 127 || separator == '\n' || separator == '"') {
        return PyErr_SetString(PyExc_ValueError, "fields with roles and a separator are expected"), NULL;
    }
    if (is_json && (!PyTuple_Check(keys) || PyTuple_Size(keys) != n_fields || n_fields > MOST_KEYS)) {
        return PyErr_SetString(PyExc_ValueError, "a key of each field is expected"), NULL;
    }
    if (is_json && !keys_at(keys, n_fields, slices)) return NULL;
    ClickCounter *self = (ClickCounter *)object;
    Batch *batch = &self->batches[!self->filled];
    Py_buffer *view = &batch->text;
    empty_batch(batch);
    if (!view_of(data, "data", "B", 1, view)) return NULL;
    block.begin = view->buf, block.limit = block.begin + view->len;
    block.roles = (const uint8_t *)roles, block.n_fields = (size_t)n_fields;
    block.separator = (char)separator, block.keys = is_json ? slices : NULL;
    int done = ODD_LOG;
    if (view->len && block.limit[-1] == '\n') {
        block.unlocked = PyEval_SaveThread();
        block.with_cr = memchr(block.begin, '\r', (size_t)view->len) != NULL;
        done = scan_block(self, &block, most);
        PyEval_RestoreThread(block.unlocked);
    }
    if (done != self->filled + 1) empty_batch(batch);
    if (done == NO_MEMORY) return PyErr_NoMemory();
    return PyErr_CheckSignals() ? NULL : PyLong_FromLong(done);
}
