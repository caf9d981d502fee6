/* Click logs: rows to counts of items, ranks and lists, page by page.  Copyright the Venire developers; Apache-2.0. */

#include "clicks.h"

typedef struct {
    int64_t shown, clicks, satisfied;
} Counts;

typedef struct {
    Counts counts;
    Named doc;
    int32_t topic;
    uint32_t page, place; /* the page that showed it last, and its place there */
    uint32_t next, list; /* the item that was shown behind it last, and the list that it was the first of; 0 none */
} Item;

/* An item as it is handed out. */
typedef struct {
    Counts counts;
    int32_t topic, doc;
} ItemCounts;

typedef struct {
    Counts counts;
    int64_t rank;
} AtRank;

typedef struct {
    int64_t n_shown, first, begin, length;
} List;

typedef struct {
    uint64_t session;
    int32_t item, rank;
} LastClick;

/* A result of the page that is read: rows of one document are joined. */
typedef struct {
    int32_t item, rank;
    int64_t clicked_at; /* the row of the last click, or -1 */
    uint32_t place, satisfied;
} Shown;

/* Make room for one more number. */
static int index_more(Index *index, size_t count) {
    if (index->room && 2 * (count + 1) <= index->room) return 1;
    size_t more = index->room ? 2 * index->room : 1024;
    Known *cells = count < INT32_MAX - 1 ? calloc(more, sizeof *cells) : NULL;
    if (!cells) return 0;
    in_large_pages(cells, more * sizeof *cells);
    for (size_t n = 0; n < index->room; n++) {
        Known cell = index->cells[n];
        size_t at = cell.hashed & (more - 1);
        if (!cell.number) continue;
        while (cells[at].number) at = (at + 1) & (more - 1);
        cells[at] = cell;
    }
    free(index->cells);
    *index = (Index){cells, more};
    return 1;
}

/* The next cell from ``at`` on that is empty, or has this hash. */
static inline Known *cell_at(const Index *index, size_t at, uint64_t hashed) {
    for (at &= index->room - 1; index->cells[at].number; at = (at + 1) & (index->room - 1)) {
        PROBED();
        if (index->cells[at].hashed == hashed) break;
    }
    return &index->cells[at];
}

static inline Known *cell_behind(const Index *index, const Known *cell) {
    return cell_at(index, (size_t)(cell - index->cells) + 1, cell->hashed);
}

static inline uint64_t item_hash(const ClickCounter *self, const Row *row, int32_t topic) {
    return hash_word(&self->keys, (uint64_t)(uint32_t)topic << 32 | (uint32_t)hash_of(self->docs, row->doc.entry));
}

static inline Item *item_at(const ClickCounter *self, uint32_t number) { return (Item *)self->items.data + number - 1; }

/* Whether an item, given by its number, has the document of a row. */
static inline int shows(const ClickCounter *self, uint32_t number, const Row *row) {
    return is_name(self->docs, &item_at(self, number)->doc, row->doc.entry, row->doc.text);
}

/* The document of a row with its number and place, which is added if it is new; number 0: no memory, or too many. */
static Named named_doc(ClickCounter *self, const Row *row) {
    Named found = row->doc.entry;
    int64_t number = number_of(self->docs, row->doc.text, found, hash_of(self->docs, found));
    if (number < 0) return (Named){0, 0, 0};
    if (found.number) found.word |= (uint64_t)(name_at(self->docs, (size_t)number).at - self->docs->bytes.data);
    found.number |= (uint32_t)number + 1;
    return found;
}

/* The number from 1 on of the item of a row, which is added if it is new; 0 no memory, or too many. */
static uint32_t find_item(ClickCounter *self, const Row *row, int32_t topic) {
    size_t count = self->items.used / sizeof(Item);
    if (!index_more(&self->items_at, count)) return 0;
    uint64_t hashed = item_hash(self, row, topic);
    Known *cell = cell_at(&self->items_at, hashed, hashed);
    for (; cell->number; cell = cell_behind(&self->items_at, cell)) {
        if (item_at(self, cell->number)->topic == topic && shows(self, cell->number, row)) return cell->number;
    }
    Named doc = named_doc(self, row);
    Item *item = doc.number ? grow(&self->items, sizeof *item) : NULL;
    if (!item) return 0;
    *item = (Item){{0, 0, 0}, doc, topic, 0, 0, 0, 0};
    *cell = (Known){hashed, (uint32_t)count + 1};
    return (uint32_t)count + 1;
}

/* The place that says which item is probably shown next. */
static inline uint32_t *next_item(const ClickCounter *self) {
    return self->before ? &item_at(self, self->before)->next : (uint32_t *)(void *)self->firsts.data + self->topic;
}

/* The counts at a rank; NULL no memory. */
static Counts *rank_of(ClickCounter *self, int32_t rank) {
    size_t count = self->ranks.used / sizeof(AtRank);
    AtRank *all = (AtRank *)self->ranks.data;
    if ((size_t)rank <= count && all[rank - 1].rank == rank) return &all[rank - 1].counts; /* ranks came in order */
    if (!index_more(&self->ranks_at, count)) return NULL;
    uint64_t hashed = hash_word(&self->keys, (uint64_t)rank);
    Known *cell = cell_at(&self->ranks_at, hashed, hashed);
    for (; cell->number; cell = cell_behind(&self->ranks_at, cell)) {
        AtRank *known = (AtRank *)self->ranks.data + cell->number - 1;
        if (known->rank == rank) return &known->counts;
    }
    AtRank *added = grow(&self->ranks, sizeof *added);
    if (!added) return NULL;
    *added = (AtRank){{0, 0, 0}, rank};
    *cell = (Known){hashed, (uint32_t)count + 1};
    return &added->counts;
}

/* Whether a list, given by its number, has the last ``length`` places. */
static inline int is_list(const ClickCounter *self, uint32_t number, size_t length) {
    const List *list = (const List *)self->lists.data + number - 1;
    const char *items = self->places.data + self->places.used - length * sizeof(int32_t);
    return (size_t)list->length == length &&
           !memcmp(self->places.data + (size_t)list->begin * sizeof(int32_t), items, length * sizeof(int32_t));
}

/* The number from 1 on of the list of the last ``length`` places, which is added if it is new; 0 no memory. */
static uint32_t find_list(ClickCounter *self, size_t length) {
    size_t count = self->lists.used / sizeof(List), size = length * sizeof(int32_t);
    if (!index_more(&self->lists_at, count)) return 0;
    uint64_t hashed = hash_exactly(&self->keys, (Slice){self->places.data + self->places.used - size, size});
    Known *cell = cell_at(&self->lists_at, hashed, hashed);
    for (; cell->number; cell = cell_behind(&self->lists_at, cell)) {
        if (is_list(self, cell->number, length)) return cell->number;
    }
    List *list = grow(&self->lists, sizeof *list);
    if (!list) return 0;
    *list = (List){0, self->first, (int64_t)((self->places.used - size) / sizeof(int32_t)), (int64_t)length};
    *cell = (Known){hashed, (uint32_t)count + 1};
    return (uint32_t)count + 1;
}

/* Count the list of the page, whose items are the last ``length`` places; they stay only if the list is new. */
static int count_list(ClickCounter *self, size_t length) {
    size_t size = length * sizeof(int32_t);
    int32_t first;
    memcpy(&first, self->places.data + self->places.used - size, sizeof first);
    uint32_t *number = &((Item *)self->items.data)[first].list;
    if (!*number || !is_list(self, *number, length)) *number = find_list(self, length);
    if (!*number) return 0;
    List *list = (List *)self->lists.data + *number - 1;
    if (list->n_shown++) self->places.used -= size;
    return 1;
}

static int by_rank_and_place(const void *a, const void *b) {
    const Shown *one = a, *other = b;
    if (one->rank != other->rank) return one->rank < other->rank ? -1 : 1;
    return one->place < other->place ? -1 : one->place > other->place;
}

static inline void count_result(Counts *counts, const Shown *result) {
    counts->shown++;
    counts->clicks += result->clicked_at >= 0;
    counts->satisfied += result->satisfied;
}

int end_page(ClickCounter *self) {
    Shown *page = (Shown *)self->page.data;
    size_t length = self->page.used / sizeof *page, ordered = 1;
    if (!length) return 1;
    while (ordered < length && page[ordered].rank >= page[ordered - 1].rank) ordered++;
    if (ordered < length) qsort(page, length, sizeof *page, by_rank_and_place);
    int32_t *places = grow(&self->places, length * sizeof *places);
    const Shown *last = page;
    for (size_t n = 0; places && n < length; n++) {
        Counts *at_rank = rank_of(self, page[n].rank);
        if (!at_rank) return 0;
        count_result(at_rank, &page[n]);
        count_result(&((Item *)self->items.data + page[n].item)->counts, &page[n]);
        places[n] = page[n].item;
        if (page[n].clicked_at > last->clicked_at) last = &page[n];
    }
    uint64_t *session = places ? grow(&self->sessions, sizeof *session) : NULL;
    if (!session) return 0;
    *session = self->session * 0x9E3779B97F4A7C15u + hash_word(&self->keys, (uint64_t)(uint32_t)self->topic + 1);
    if (last->clicked_at >= 0 && !self->has_dwell) {
        LastClick *click = grow(&self->last, sizeof *click);
        if (!click) return 0;
        *click = (LastClick){*session, last->item, last->rank};
    }
    self->page.used = 0;
    return count_list(self, length);
}

/* Begin a page, unless the row belongs to the one before: 1 done, 0 no memory. */
static inline int begin_page(ClickCounter *self, uint64_t session, int32_t topic) {
    if (self->page.used && session == self->session && topic == self->topic) return 1;
    if (!end_page(self)) return 0;
    self->session = session, self->topic = topic;
    self->first = self->n_rows;
    self->before = 0;
    self->n_pages++;
    return 1;
}

/* Count one row of the page: 1 done, 0 no memory. */
static inline int count_row(ClickCounter *self, const Row *row) {
    uint32_t number = *next_item(self);
    if (!number || !shows(self, number, row)) {
        number = find_item(self, row, self->topic);
        if (!number) return 0;
        *next_item(self) = number;
        self->surprised = self->before != 0;
    }
    self->before = number;
    Item *item = item_at(self, number);
    uint32_t satisfied = (row->flags & SATISFIED) != 0, place = (uint32_t)(self->page.used / sizeof(Shown));
    int64_t at = self->n_rows++, clicked_at = row->flags & WAS_CLICKED ? at : -1;
    self->n_unknown += (row->flags & (WAS_CLICKED | WITH_DWELL)) == WAS_CLICKED;
    if (item->page == self->n_pages) {
        Shown *known = (Shown *)self->page.data + item->place;
        if (row->rank && row->rank < known->rank) known->rank = row->rank;
        if (clicked_at >= 0) known->clicked_at = clicked_at;
        known->satisfied |= satisfied;
        self->n_repeats++;
        return 1;
    }
    item->page = self->n_pages, item->place = place;
    Shown *result = grow(&self->page, sizeof *result);
    if (result) *result = (Shown){(int32_t)number - 1, row->rank ? row->rank : (int32_t)place + 1, clicked_at, place, satisfied};
    return result != NULL;
}

/* The number of a topic, which is added if it is new; -1 no memory, or too many. */
static int32_t number_topic(ClickCounter *self, const NameCell *topic) {
    int64_t number = number_of(self->topics, topic->text, topic->entry, hash_of(self->topics, topic->entry));
    size_t known = self->firsts.used / sizeof(uint32_t);
    if (number < 0 || (size_t)number < known) return number < 0 ? -1 : (int32_t)number;
    size_t more = ((size_t)number + 1 - known) * sizeof(uint32_t);
    void *firsts = grow(&self->firsts, more);
    if (!firsts) return -1;
    memset(firsts, 0, more);
    return (int32_t)number;
}

/* Fetch the items of rows together, each with its topic, and the documents of those that are new.  (A function that does
 * nothing else is left out by some compilers.) */
static void fetch_items(ClickCounter *self, const Row *const *rows, const int32_t *topic, size_t count) {
    const Index *index = &self->items_at;
    uint64_t hashed[AHEAD];
    self->surprised = 0;
    for (size_t n = 0; n < count && index->room; n++) {
        hashed[n] = item_hash(self, rows[n], topic[n]);
        FETCH(&index->cells[hashed[n] & (index->room - 1)]);
    }
    for (size_t n = 0; n < count && index->room; n++) {
        uint32_t number = index->cells[hashed[n] & (index->room - 1)].number;
        if (number) FETCH(item_at(self, number));
        if (!number) FETCH(&self->docs->cells[hash_of(self->docs, rows[n]->doc.entry) & (self->docs->room - 1)]);
    }
}

/* Count rows of one page: 1 done, 0 no memory. */
static int count_stretch(ClickCounter *self, const Row *row, size_t n_rows) {
    for (size_t n = 0, fetched = 0; n < n_rows; n++) {
        if (self->surprised && n >= fetched) {
            const Row *rows[AHEAD];
            int32_t topic[AHEAD];
            size_t count = n_rows - n < AHEAD ? n_rows - n : AHEAD;
            for (size_t m = 0; m < count; m++) rows[m] = row + n + m, topic[m] = self->topic;
            fetch_items(self, rows, topic, count);
            fetched = n + count;
        }
        if (!count_row(self, row + n)) return 0;
    }
    return 1;
}

int count_rows(ClickCounter *self, const Batch *batch) {
    const Row *row = (const Row *)(void *)batch->rows.data, *rows[AHEAD];
    const Stretch *stretch = (const Stretch *)(void *)batch->stretches.data;
    int32_t topic[AHEAD];
    for (size_t left = batch->stretches.used / sizeof *stretch, count; left; left -= count, stretch += count) {
        count = left < AHEAD ? left : AHEAD;
        for (size_t n = 0; n < count; n++) {
            FETCH(&self->topics->cells[hash_of(self->topics, stretch[n].topic.entry) & (self->topics->room - 1)]);
        }
        for (size_t n = 0; n < count; n++) {
            topic[n] = number_topic(self, &stretch[n].topic);
            if (topic[n] < 0) return 0;
            rows[n] = n ? rows[n - 1] + stretch[n - 1].n_rows : row;
        }
        fetch_items(self, rows, topic, count);
        for (size_t n = 0; n < count; n++) {
            if (!begin_page(self, stretch[n].session, topic[n]) || !count_stretch(self, rows[n], stretch[n].n_rows)) return 0;
        }
        row = rows[count - 1] + stretch[count - 1].n_rows;
    }
    return 1;
}

PyObject *item_counts(const ClickCounter *self) {
    size_t count = self->items.used / sizeof(Item);
    PyObject *found = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(ItemCounts)));
    char *to = found ? PyBytes_AsString(found) : NULL;
    for (size_t n = 0; to && n < count; n++, to += sizeof(ItemCounts)) {
        const Item *item = (const Item *)self->items.data + n;
        ItemCounts counts = {item->counts, item->topic, (int32_t)(item->doc.number & ~LONG_NAME) - 1};
        memcpy(to, &counts, sizeof counts);
    }
    return found;
}
