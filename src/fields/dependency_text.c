#include "fields/dependency_text.h"

#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "fields/job_id.h"
#include "fields/limits.h"

static const char field_name[] = "dependency";
static const char failed_mark[] = "(failed)", waiting_mark[] = "(unfulfilled)";

static const char *const type_words[] = {[DEPENDENCY_AFTER] = "after",
                                         [DEPENDENCY_AFTEROK] = "afterok",
                                         [DEPENDENCY_AFTERNOTOK] = "afternotok",
                                         [DEPENDENCY_AFTERANY] = "afterany",
                                         [DEPENDENCY_AFTERCORR] = "aftercorr",
                                         [DEPENDENCY_AFTERCORRANY] = "aftercorrany",
                                         [DEPENDENCY_SINGLETON] = "singleton",
                                         [DEPENDENCY_HOLD_JID] = "hold_jid",
                                         [DEPENDENCY_HOLD_JID_AD] = "hold_jid_ad"};

enum { TYPE_COUNT = sizeof type_words / sizeof *type_words };

/* --- reading ------------------------------------------------------------------------------------------------------ */

struct reader {
    struct arena *arena;
    struct err *e;
    struct dependency_list list;
    uint32_t capacity; /* of its items */
    char separator;    /* between conditions; 0: none so far */
};

static bool is_hold(enum dependency_type type)
{
    return type == DEPENDENCY_HOLD_JID || type == DEPENDENCY_HOLD_JID_AD;
}

/* type: of the clause; TYPE_COUNT: unknown. */
static int fail(struct reader *r, enum dependency_type type, struct str clause)
{
    if (is_hold(type))
        return err_value(r->e, field_name, clause,
                         "a list of jobs, each an id, such as 5 or 5_3, a name or a pattern of names");
    return err_value(r->e, field_name, clause,
                     "afterok:JOB, afternotok:JOB, afterany:JOB, after:JOB[+MINUTES], aftercorr:JOB, aftercorrany:JOB "
                     "or singleton; JOB is an id, such as 5 or 5_3, or a name");
}

static bool begins_hold(struct str text)
{
    struct str unused, word = str_trim(str_cut(text, ':', &unused));
    return str_equal_nocase(word, str(type_words[DEPENDENCY_HOLD_JID])) ||
           str_equal_nocase(word, str(type_words[DEPENDENCY_HOLD_JID_AD]));
}

/* The part before the next separator that is not within [ ]. In a pattern of names ? stands for a character. */
static struct str cut_clause(struct reader *r, struct str *rest)
{
    size_t at = 0;
    bool is_inside = false, has_patterns = begins_hold(*rest);
    while (at < rest->length && (is_inside || (rest->text[at] != ',' && (rest->text[at] != '?' || has_patterns)))) {
        if (rest->text[at] == '[') is_inside = true;
        if (rest->text[at] == ']') is_inside = false;
        at++;
    }
    struct str clause = {rest->text, at};
    char separator = at < rest->length ? rest->text[at] : '\0';
    *rest = separator != '\0' ? str_range(rest->text + at + 1, rest->text + rest->length) : (struct str){0};
    if (separator != '\0' && r->separator == '\0') r->separator = separator;
    if (separator != '\0' && r->separator != separator) r->separator = '!';
    return clause;
}

static bool find_type(struct str word, enum dependency_type *out)
{
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (!str_equal_nocase(word, str(type_words[i]))) continue;
        *out = (enum dependency_type)i;
        return true;
    }
    return false;
}

static bool strip(struct str *text, const char *mark)
{
    size_t length = strlen(mark);
    if (text->length < length || memcmp(text->text + text->length - length, mark, length) != 0) return false;
    text->length -= length;
    return true;
}

/* The position of the last such character, or the length. */
static size_t last_of(struct str text, char c)
{
    size_t at = text.length;
    while (at > 0 && text.text[at - 1] != c) at--;
    return at > 0 ? at - 1 : text.length;
}

/* Takes a number after the last such character off a text. */
static bool take_number(struct str *text, char before, uint64_t max, uint64_t *out)
{
    size_t at = last_of(*text, before);
    if (at + 1 >= text->length || !number_parse_u64(str_range(text->text + at + 1, text->text + text->length), out) ||
        *out > max)
        return false;
    text->length = at;
    return true;
}

static bool is_number(struct str text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] < '0' || text.text[i] > '9') return false;
    }
    return text.length > 0;
}

/* "5_[0-3]", of an id; a name may end so, too. */
static int take_tasks(struct reader *r, struct str *text, struct str clause, struct idset *out)
{
    struct idset set = {0};
    size_t at = last_of(*text, '[');
    if (at == text->length || at == 0 || text->text[at - 1] != '_' || !is_number((struct str){text->text, at - 1}))
        return 0;
    if (!strip(text, "]")) return 0;
    if (idset_parse(str_range(text->text + at + 1, text->text + text->length), NONE - 1, field_name, &set, r->e) != 0)
        return -1;
    if (set.ranges.count == 0) return err_value_reason(r->e, field_name, clause, "names no task between [ and ]");
    size_t size = set.ranges.count * sizeof *set.ranges.items;
    out->ranges.items = arena_alloc(r->arena, size);
    memcpy(out->ranges.items, set.ranges.items, size);
    out->ranges.count = out->ranges.capacity = set.ranges.count;
    idset_release(&set);
    text->length = at - 1;
    return 0;
}

/* "5" and "5_3" are ids, whatever is named so. */
static bool is_id(struct str text)
{
    struct str task, job = str_cut(text, '_', &task);
    return is_number(job) && (task.text == NULL || is_number(task));
}

/* A bracket that stays open would take in what follows, when the condition is written beside others and read again. */
static bool has_open_bracket(struct str text)
{
    size_t open = last_of(text, '['), close = last_of(text, ']');
    return open < text.length && (close == text.length || close < open);
}

static int read_job(struct reader *r, struct str text, struct str clause, struct dependency_item *item)
{
    if (text.length == 0 || !str_is_printable(text)) return fail(r, item->type, clause);
    if (has_open_bracket(text)) return err_value_reason(r->e, field_name, clause, "has '[' without ']'");
    struct str unused, before_plus = str_cut(text, '+', &unused);
    if (!is_hold(item->type) && before_plus.length < text.length && is_id(before_plus))
        return err_value_reason(r->e, field_name, clause,
                                "has minutes that cannot be read; after:JOB+MINUTES takes a whole number, and no other "
                                "condition takes any");
    if (!is_id(text)) {
        item->name = text;
        return 0;
    }
    return job_id_parse(text, field_name, &item->job_id, &item->task_id, r->e);
}

static int add_item(struct reader *r, const struct dependency_item *item)
{
    if (r->list.count == DEPENDENCY_ITEMS_MAX)
        return err_field(r->e, ERR_TOO_LARGE, field_name, "more than %d jobs; at most %d are accepted",
                         DEPENDENCY_ITEMS_MAX, DEPENDENCY_ITEMS_MAX);
    if (r->list.count == r->capacity) {
        struct dependency_item *old = r->list.items;
        r->capacity *= 2;
        r->list.items = arena_alloc(r->arena, r->capacity * sizeof *old);
        memcpy(r->list.items, old, r->list.count * sizeof *old);
    }
    r->list.items[r->list.count++] = *item;
    return 0;
}

/* A condition for each task. */
static int add_tasks(struct reader *r, const struct dependency_item *item)
{
    struct dependency_item added = *item;
    added.tasks = (struct idset){0};
    for (uint32_t id = idset_first(&item->tasks); id != NONE; id = idset_next(&item->tasks, id)) {
        added.task_id = id;
        if (add_item(r, &added) != 0) return -1;
    }
    return 0;
}

static int read_item(struct reader *r, enum dependency_type type, struct str text, struct str clause)
{
    struct dependency_item item = {.type = type, .task_id = NONE};
    uint64_t minutes = 0, at_s = 0;
    int64_t at_s_max = (int64_t)(TIME_US_MAX / US_PER_S);
    item.is_failed = strip(&text, failed_mark);
    if (!item.is_failed) (void)strip(&text, waiting_mark);
    if (type == DEPENDENCY_AFTER) {
        if (take_number(&text, '@', (uint64_t)at_s_max, &at_s)) item.at_us = (int64_t)at_s * US_PER_S;
        if (take_number(&text, '+', DEPENDENCY_MINUTES_MAX, &minutes)) item.minutes = (uint32_t)minutes;
    }
    if (take_tasks(r, &text, clause, &item.tasks) != 0) return -1;
    if (read_job(r, text, clause, &item) != 0) return -1;
    if (dependency_is_by_task(type) && item.task_id != NONE)
        return err_value_reason(r->e, field_name, clause, "names a task; it needs a whole array");
    if (!dependency_is_by_task(type) && item.tasks.ranges.count > 0) return add_tasks(r, &item);
    return add_item(r, &item);
}

static int read_clause(struct reader *r, struct str clause)
{
    enum dependency_type type = (enum dependency_type)TYPE_COUNT;
    struct str jobs, word = str_cut(clause, ':', &jobs);
    struct str bare = word;
    if (strip(&bare, waiting_mark) || jobs.text == NULL) {
        if (!find_type(bare, &type) || type != DEPENDENCY_SINGLETON) return fail(r, type, clause);
        return add_item(r, &(struct dependency_item){.type = type, .task_id = NONE});
    }
    if (!find_type(word, &type) || type == DEPENDENCY_SINGLETON) return fail(r, type, clause);
    while (jobs.text != NULL) {
        struct str job = str_cut(jobs, ':', &jobs);
        if (read_item(r, type, job, clause) != 0) return -1;
    }
    return 0;
}

static int check_list(struct reader *r, struct str text)
{
    bool is_any = r->separator == '?';
    if (r->separator == '!')
        return err_value_reason(r->e, field_name, text,
                                "has both ',' and '?'; join conditions by ',' (all) or by '?' (any)");
    for (uint32_t i = 0; is_any && i < r->list.count; i++) {
        if (dependency_is_by_task(r->list.items[i].type))
            return err_value_reason(r->e, field_name, text, "has '?' beside %s, which is only accepted with ','",
                                    type_words[r->list.items[i].type]);
    }
    r->list.is_any = is_any && r->list.count > 1;
    return 0;
}

int dependency_text_parse(struct str text, struct arena *arena, struct dependency_list *out, struct err *e)
{
    struct reader r = {.arena = arena, .e = e, .capacity = 1};
    *out = (struct dependency_list){0};
    text = str_trim(text);
    if (text.length == 0 || str_equal_nocase(text, str("none"))) return 0;
    for (size_t i = 0; i < text.length; i++)
        r.capacity += text.text[i] == ',' || text.text[i] == '?' || text.text[i] == ':';
    if (r.capacity > DEPENDENCY_ITEMS_MAX) r.capacity = DEPENDENCY_ITEMS_MAX;
    r.list.items = arena_alloc(arena, r.capacity * sizeof *r.list.items);
    for (struct str rest = text; rest.text != NULL;) {
        if (read_clause(&r, str_trim(cut_clause(&r, &rest))) != 0) return -1;
    }
    if (check_list(&r, text) != 0) return -1;
    for (uint32_t i = 0; i < r.list.count; i++) r.list.items[i].position = i;
    dependency_list_count(&r.list);
    *out = r.list;
    return 0;
}

int dependency_text_restore(struct str text, uint32_t position, bool is_any, struct arena *arena,
                            struct dependency_list **io_list)
{
    struct dependency_list parsed;
    if (position == NONE || dependency_text_parse(text, arena, &parsed, NULL) != 0 || parsed.count != 1) return -1;
    struct dependency_item item = parsed.items[0];
    item.position = position;
    item.tasks = (struct idset){0};
    idset_copy(&item.tasks, &parsed.items[0].tasks);
    if (*io_list == NULL) *io_list = dependency_list_new(is_any);
    (void)dependency_list_add(*io_list, &item);
    return 0;
}

int dependency_text_check(struct str text, const char *what, struct err *e)
{
    struct arena arena = {0};
    struct dependency_list list;
    int status = dependency_text_parse(text, &arena, &list, e);
    if (status != 0 && e != NULL) text_format(e->field, sizeof e->field, "%s", what);
    arena_release(&arena);
    return status;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Without marks. */
static void format_given(const struct dependency_item *item, struct buf *out)
{
    buf_add_text(out, type_words[item->type]);
    if (item->type == DEPENDENCY_SINGLETON) return;
    buf_add_char(out, ':');
    if (item->name.text != NULL)
        buf_add_str(out, item->name);
    else
        buf_add_u64(out, item->job_id);
    if (item->task_id != NONE) buf_format(out, "_%u", item->task_id);
    if (item->tasks.ranges.count > 0) {
        buf_add_text(out, "_[");
        idset_format(&item->tasks, out);
        buf_add_char(out, ']');
    }
    if (item->minutes > 0) buf_format(out, "+%u", item->minutes);
}

void dependency_text_format_item(const struct dependency_item *item, struct buf *out)
{
    format_given(item, out);
    if (item->at_us > 0) buf_format(out, "@%lld", (long long)(item->at_us / US_PER_S));
    if (item->is_failed) buf_add_text(out, failed_mark);
}

void dependency_text_format(const struct dependency_list *list, struct buf *out)
{
    bool is_first = true;
    for (uint32_t i = 0; list != NULL && list->left > 0 && i < list->count; i++) {
        if (list->items[i].is_met) continue;
        if (!is_first) buf_add_char(out, dependency_text_separator(list));
        dependency_text_format_item(&list->items[i], out);
        is_first = false;
    }
}

static bool is_over(const struct dependency_item *item, int64_t now_us)
{
    return item->at_us > 0 && item->at_us <= now_us;
}

static bool has_come(const struct dependency_list *list, int64_t now_us)
{
    bool has_come = false;
    for (uint32_t i = 0; i < list->count; i++) has_come |= is_over(&list->items[i], now_us);
    return has_come;
}

void dependency_text_show(const struct dependency_list *list, int64_t now_us, struct buf *out)
{
    bool is_first = true;
    if (list == NULL || (list->is_any && has_come(list, now_us))) return;
    for (uint32_t i = 0; list->left > 0 && i < list->count; i++) {
        const struct dependency_item *item = &list->items[i];
        if (item->is_met || is_over(item, now_us)) continue;
        if (!is_first) buf_add_char(out, dependency_text_separator(list));
        format_given(item, out);
        buf_add_text(out, item->is_failed ? failed_mark : waiting_mark);
        is_first = false;
    }
}
