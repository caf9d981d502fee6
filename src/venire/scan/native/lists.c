/* Scanning run lines into the ranks of judged items: the compiled twin of scan/lists.py.
 *
 * One pass over the bytes.  A line is split into its six fields, or is a row of columns; a list is a stretch of lines
 * with the same topic and tag.  Each document is looked up in the small table of its topic's judged documents, found by
 * hash and verified byte by byte, and noted in a table of the list's own documents, so that none passes twice.  When a
 * list ends, its judged documents are ranked: most lists are in order already; else, and where a judged document ties,
 * only judged documents are sorted, and every other one is counted before the first of them that it precedes.
 *
 * The interpreter lock is released while lines are scanned, and taken now and then to handle signals.  Lengths are of
 * type size_t; numbers of lists, documents and items have 32 bits, and the constructor's limits keep them below 2^31.
 * Copyright the Venire developers; Apache-2.0. */

#include "lists.h"
#include "numbers.h"

typedef struct {
    Slice doc;
    double score;
    uint64_t mixed;
    int32_t item;
} Entry;

enum { AT_ONCE = 1 << 23 }; /* bytes scanned between two looks for signals: more than most chunks, 10 to 300 ms */

int handle_signals(Scan *scan) {
    scan->work = 0;
    PyEval_RestoreThread(scan->unlocked);
    int stopped = scan->scanner->stopped;
    if (stopped) PyErr_SetString(PyExc_RuntimeError, "the scan was stopped");
    int failed = stopped || PyErr_CheckSignals() < 0;
    scan->unlocked = PyEval_SaveThread();
    return !failed;
}

/* Count what was done besides the scan of lines, in steps that take as long as so many bytes: 0 if it is to end. */
static inline int did(Scan *scan, size_t work) {
    scan->work += (int64_t)work;
    return scan->work < AT_ONCE || handle_signals(scan);
}

static inline size_t n_entries(const Scan *scan) { return scan->entries.used / sizeof(Entry); }

/* ---- one list ------------------------------------------------------------------------------------------------ */

enum { FAST = 1 << 16 }; /* documents of a list whose table stays in the cache; with more, each takes longer */

/* Make room in the table of documents seen: 1 done, 0 no memory, or the scan is to end. */
static int widen(Scan *scan) {
    size_t room = scan->seen_room ? 2 * scan->seen_room : 4096;
    Seen *seen = calloc(room, sizeof *seen);
    if (!seen) return 0;
    const Entry *entries = (const Entry *)scan->entries.data;
    for (size_t n = 0; n < n_entries(scan); n++) {
        size_t place = entries[n].mixed & (room - 1);
        for (; seen[place].list; place = (place + 1) & (room - 1)) PROBED();
        seen[place] = (Seen){scan->list, (uint32_t)n};
        if (!did(scan, 16)) return free(seen), 0;
    }
    free(scan->seen);
    scan->seen = seen;
    scan->seen_room = room;
    return 1;
}

/* Add a document to the current list: 1 done, 0 it was there before, -1 no memory, or the scan is to end. */
static inline int add(Scan *scan, Slice doc, double score) {
    size_t count = n_entries(scan);
    if (2 * count >= scan->seen_room && !widen(scan)) return -1;
    if (count >= FAST && !did(scan, 64)) return -1;
    const Scanner *scanner = scan->scanner;
    Entry *entries = (Entry *)scan->entries.data;
    uint64_t mixed = hash(&scanner->keys, doc);
    size_t place = mixed & (scan->seen_room - 1);
    for (; scan->seen[place].list == scan->list; place = (place + 1) & (scan->seen_room - 1)) {
        PROBED();
        const Entry *other = &entries[scan->seen[place].entry];
        if (other->mixed == mixed && same(other->doc, doc)) return 0;
    }
    int32_t item = scan->topic_number < 0 ? -1 : find(scanner->by_topic[scan->topic_number], scanner->docs, doc, mixed);
    if (count) {
        scan->out_of_order |= score > entries[count - 1].score;
        scan->uneven |= score != entries[count - 1].score;
    }
    Entry *entry = grow(&scan->entries, sizeof *entry);
    if (!entry) return -1;
    *entry = (Entry){doc, score, mixed, item};
    if (item >= 0 && !push(&scan->hits, (int32_t)count)) return -1;
    scan->seen[place] = (Seen){scan->list, (uint32_t)count};
    return 1;
}

static inline int better(Scan *scan, const Entry *a, const Entry *b) {
    if (a->score != b->score) return a->score > b->score;
    scan->work += (int64_t)(a->doc.length < b->doc.length ? a->doc.length : b->doc.length);
    return compare(a->doc, b->doc) > 0;
}

/* Sort numbers of entries, best first: merge sort, in place of a stretch already in order nothing moves.
 * 1 done, 0 the scan is to end. */
static int sort(Scan *scan, uint32_t *order, uint32_t *spare, size_t count) {
    const Entry *entries = (const Entry *)scan->entries.data;
    if (count < 12) {
        for (size_t n = 1; n < count; n++) {
            uint32_t moved = order[n];
            size_t place = n;
            for (; place && better(scan, &entries[moved], &entries[order[place - 1]]); place--) {
                order[place] = order[place - 1];
            }
            order[place] = moved;
        }
        return did(scan, 64 * count);
    }
    size_t half = count / 2;
    if (!sort(scan, order, spare, half) || !sort(scan, order + half, spare, count - half)) return 0;
    if (!better(scan, &entries[order[half]], &entries[order[half - 1]])) return 1;
    memcpy(spare, order, half * sizeof *order);
    for (size_t left = 0, right = half, n = 0; left < half; n++) {
        int take = right < count && better(scan, &entries[order[right]], &entries[spare[left]]);
        order[n] = take ? order[right++] : spare[left++];
        if (!did(scan, 16)) return 0;
    }
    return 1;
}

/* How many of some scores, in descending order, are greater than one: n > 0. */
static inline size_t n_greater(const double *scores, size_t n, double score) {
    const double *from = scores;
    for (size_t half; n > 1; n -= half) {
        half = n / 2;
        from = from[half - 1] > score ? from + half : from;
    }
    return (size_t)(from - scores) + (*from > score);
}

/* How many of the hits, best first, are better than an entry; scores: theirs, n > 0. */
static inline size_t n_better(Scan *scan, const uint32_t *hits, const double *scores, size_t n, const Entry *entry) {
    const Entry *entries = (const Entry *)scan->entries.data;
    size_t low = n_greater(scores, n, entry->score);
    if (low == n || scores[low] != entry->score) return low;
    size_t high = low + 1;
    for (size_t step = 1; high < n && scores[high] == entry->score; step *= 2) high = n - high > step ? high + step : n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (better(scan, &entries[hits[middle]], entry)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Rank hits among the entries from first up to last, before which there are first better ones: sort them, best first, and
 * count for each the entries up to it.  1 done, 0 no memory, or the scan is to end. */
static int rank_among(Scan *scan, size_t first, size_t last, uint32_t *hits, size_t n, int32_t *ranks) {
    const Entry *entries = (const Entry *)scan->entries.data;
    scan->spare.used = scan->scores.used = 0;
    uint32_t *spare = grow(&scan->spare, n * sizeof *spare);
    double *scores = grow(&scan->scores, n * sizeof *scores);
    if (!spare || !scores || !sort(scan, hits, spare, n)) return 0;
    for (size_t hit = 0; hit < n; hit++) scores[hit] = entries[hits[hit]].score;
    memset(ranks, 0, n * sizeof *ranks);
    for (size_t entry = first; entry < last; entry++) {
        size_t place = n_better(scan, hits, scores, n, &entries[entry]);
        if (place < n) ranks[place]++;
        if (!did(scan, 16)) return 0;
    }
    ranks[0] += (int32_t)first;
    for (size_t hit = 1; hit < n; hit++) ranks[hit] += ranks[hit - 1];
    return 1;
}

/* Rank the hits of the current list, best first; in a list that is in order, only those that tie are sorted.  The ranks;
 * or NULL: no memory, or the scan is to end. */
static const int32_t *ranked(Scan *scan, size_t n) {
    const Entry *entries = (const Entry *)scan->entries.data;
    size_t count = n_entries(scan);
    uint32_t *hits = (uint32_t *)scan->hits.data;
    scan->ranks.used = 0;
    int32_t *ranks = grow(&scan->ranks, n * sizeof *ranks);
    if (!ranks) return NULL;
    if (scan->out_of_order) return rank_among(scan, 0, count, hits, n, ranks) ? ranks : NULL;
    for (size_t hit = 0, next; hit < n; hit = next) {
        size_t first = hits[hit], last = first + 1;
        double score = entries[first].score;
        while (first && entries[first - 1].score == score) first--;
        while (last < count && entries[last].score == score) last++;
        for (next = hit + 1; next < n && hits[next] < last;) next++;
        if (last == first + 1) {
            ranks[hit] = (int32_t)last;
        } else if (!rank_among(scan, first, last, hits + hit, next - hit, ranks + hit)) {
            return NULL;
        }
    }
    return ranks;
}

/* Close the current list: note its depth and the ranks of its judged items, and clear its documents.  1 done, 0 no
 * memory, or the scan is to end. */
static int close_list(Scan *scan) {
    size_t count = n_entries(scan);
    Slice *names = scan->at_topic.at ? grow(&scan->names, 2 * sizeof *names) : NULL;
    if (!scan->at_topic.at) return 1;
    if (!names || !push(&scan->topic, scan->topic_number) || !push(&scan->depth, (int32_t)count)) return 0;
    if (!push(&scan->level, count > 1 && !scan->uneven)) return 0;
    names[0] = scan->at_topic;
    names[1] = scan->at_tag;
    size_t n_hits = scan->hits.used / sizeof(uint32_t);
    const int32_t *ranks = n_hits ? ranked(scan, n_hits) : NULL;
    if (n_hits && !ranks) return 0;
    const Entry *entries = (const Entry *)scan->entries.data;
    const uint32_t *hits = (const uint32_t *)scan->hits.data;
    int32_t owner = (int32_t)(scan->topic.used / sizeof(int32_t)) - 1;
    for (size_t n = 0; n < n_hits; n++) {
        int32_t item = entries[hits[n]].item;
        if (!did(scan, 16)) return 0;
        if (!push(&scan->owner, owner) || !push(&scan->rank, ranks[n]) || !push(&scan->item, item)) return 0;
    }
    scan->entries.used = scan->hits.used = 0;
    scan->list++;
    scan->out_of_order = scan->uneven = 0;
    return 1;
}

static int open_list(Scan *scan, Slice topic, Slice tag) {
    if (!close_list(scan)) return 0;
    if (!scan->at_topic.at || !same(topic, scan->at_topic)) {
        scan->topic_number = find(scan->scanner->by_name, scan->scanner->topics, topic,
                                  hash(&scan->scanner->keys, topic));
    }
    scan->at_topic = topic;
    scan->at_tag = tag;
    return 1;
}

static int faulty(Scan *scan, const char *fault, int64_t detail) {
    scan->fault = fault;
    scan->fault_line = scan->n_lines;
    scan->fault_detail = detail;
    return 1;
}

/* ---- lines and rows ------------------------------------------------------------------------------------------ */

enum { TEXT, BLANK, END, CONTROL };

#define SIX CONTROL, CONTROL, CONTROL, CONTROL, CONTROL, CONTROL
static const uint8_t kind_of[256] = {SIX, CONTROL, CONTROL, CONTROL, BLANK, END, BLANK, BLANK, BLANK, SIX, SIX, SIX, BLANK};

static inline int kind(const char *p) { return kind_of[(uint8_t)*p]; }

/* Where the text at p ends: at the first byte up to a space.  Looks at no byte from ``limit`` on. */
static inline const char *text_end(const char *p, const char *limit) {
#if WORDWISE
    for (; limit - p >= 8; p += 8) {
        uint64_t word = load(p), low = (word - 0x2121212121212121u) & ~word & 0x8080808080808080u;
        if (low) return p + (__builtin_ctzll(low) >> 3);
    }
#else
    (void)limit;
#endif
    while (kind(p) == TEXT) p++;
    return p;
}

enum { TOPIC, QUESTION, DOC, RANK, SCORE, TAG, COLUMNS };

/* Compare tags; behind that of the last line there may be no 8 bytes to read. */
static inline int same_tag(Slice a, Slice b, const char *limit) {
    if (limit - a.at >= (ptrdiff_t)a.length + 8) return same(a, b);
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/* Split the line at p into fields: how many there are (at most COLUMNS are kept), or -1 at a control byte, which *stop
 * then points at; else *stop points at the end of the line. */
static inline int64_t split(const char *p, const char *limit, Slice *fields, const char **stop) {
    int64_t count = 0;
    for (;;) {
        while (kind(p) == BLANK) p++;
        const char *start = p;
        p = text_end(p, limit);
        if (p > start) {
            if (count < COLUMNS) fields[count] = (Slice){start, (size_t)(p - start)};
            count++;
        }
        if (kind(p) >= END) break;
    }
    *stop = p;
    return kind(p) == CONTROL ? -1 : count;
}

/* Split the line at p if it is as usual: six fields, one blank between them, a line end behind; 0 if it is not.
 * Sixteen bytes are looked at at a time, 64 in all. */
static inline int split_usual(const char *p, const char *limit, Slice *fields, const char **stop) {
#if defined(__SSE2__) && defined(__GNUC__)
    if (limit - p < 64) return 0;
    const __m128i space = _mm_set1_epi8(' ');
    uint64_t low = 0; /* a bit for each byte up to a space */
    for (int n = 0; n < 64; n += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(p + n));
        low |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes)) << n;
    }
    const char *start = p;
    for (int n = 0; n < COLUMNS; n++, low &= low - 1) {
        if (!low) return 0;
        const char *end = p + __builtin_ctzll(low);
        if (end == start || kind(end) != (n < TAG ? BLANK : END)) return 0;
        fields[n] = (Slice){start, (size_t)(end - start)};
        start = end + 1;
    }
    *stop = start - 1;
    return COLUMNS;
#else
    (void)p, (void)limit, (void)fields, (void)stop;
    return 0;
#endif
}

int scan_lines(Scan *scan, const void *end) {
    const Scanner *scanner = scan->scanner;
    const char *limit = end;
    const long long longest = scanner->longest_line;
    long long left = scanner->most_lines;
    Slice fields[COLUMNS];
    const char *stop, *looked = scan->data;
    for (const char *p = scan->data; p < limit; p = stop + 1, scan->n_lines++) {
        int comment = *p == '#';
        int64_t count = split_usual(p, limit, fields, &stop);
        if (!count) count = split(p, limit, fields, &stop);
        if (count < 0) return faulty(scan, "control", (uint8_t)*stop);
        if (stop - p > longest) return faulty(scan, "long", stop - p);
        if (stop - looked > AT_ONCE) {
            looked = stop;
            if (!handle_signals(scan)) return 0;
        }
        if (comment || !count) continue;
        if (count != COLUMNS) return faulty(scan, "columns", count);
        if (left-- == 0) return faulty(scan, "many", 0);
        double score;
        int read = read_number(fields[scanner->by_rank ? RANK : SCORE], &score, &scan->unlocked);
        if (read < 0) return 0;
        if (!read) return faulty(scan, scanner->by_rank ? "rank" : "score", 0);
        if (scanner->by_rank) score = -score;
        if (scanner->single_precision) score = (float)score;
        int same_list = scan->at_topic.at && same(fields[TOPIC], scan->at_topic) &&
                        same_tag(fields[TAG], scan->at_tag, limit);
        if (!same_list && !open_list(scan, fields[TOPIC], fields[TAG])) return 0;
        int added = add(scan, fields[DOC], score);
        if (added < 0) return 0;
        if (!added && !scanner->keep_first) return faulty(scan, "twice", 0);
    }
    return close_list(scan);
}

int scan_rows(Scan *scan, const void *all) {
    const Rows *rows = all;
    const double *score = rows->score.buf;
    for (size_t n = 0; n < rows->text[0].count; n++, scan->n_lines++) {
        Slice topic = slice_at(&rows->text[0], n), tag = slice_at(&rows->text[1], n);
        int same_list = scan->at_topic.at && same(topic, scan->at_topic) && same(tag, scan->at_tag);
        if (!same_list && !open_list(scan, topic, tag)) return 0;
        int added = add(scan, slice_at(&rows->text[2], n), score[n]);
        if (added < 0 || !did(scan, 64)) return 0;
        if (!added && !scan->scanner->keep_first) return faulty(scan, "twice", 0);
    }
    return close_list(scan);
}
