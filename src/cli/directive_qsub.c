/* #$ lines. Options of qsub are words with one dash; -soft and -hard say what the -l and -q behind them are, and -t and
 * -tc, -v and -V, and h_rt and s_rt mean one thing together. The lists of -v, -q, -masterq, -hold_jid and -hold_jid_ad
 * grow with each that is given; of other options the last one counts. */
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/directive_options.h"
#include "cli/directive_path.h"
#include "fields/signal_text.h"

enum { SHOWN_SIZE = 80, DENSE_DATE = 12, FRACTION = 3, MIB_SHIFT = 20, LISTS_MAX = 8 };

/* What several options mean together; text NULL: not given. */
struct qsub_pair {
    const char *text;
    struct directive_word at;
};
/* What all options of one kind list together. */
struct qsub_list {
    const char *own;  /* the option of 'fairlead submit' */
    const char *text; /* NULL: not given */
    struct directive_word at;
};
struct qsub_options {
    bool is_soft; /* the last of -soft and -hard */
    struct qsub_pair tasks, task_limit, join, output, error, hard_time, soft_time;
    const char *directory;          /* of -wd; NULL: not given */
    struct qsub_pair wait, reserve; /* text: the option of 'fairlead submit', if the last one said yes */
    bool has_all_variables;
    struct qsub_list lists[LISTS_MAX];
};

/* One option that is read, its arguments and its position. */
struct qsub_option {
    const struct foreign_option *row;
    const struct directive_word *at;
    char shown[SHOWN_SIZE];
    const char *argument, *second;
};

static int refuse_argument(const struct directive_options *o, const struct qsub_option *given, const char *accepted,
                           struct err *e)
{
    return directive_options_refuse(o, given->at, e, "%s: '%s' is not %s", given->shown, given->argument, accepted);
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

/* "3600" is seconds, "1:0:0" hours, minutes and seconds, of which each may be missing. */
static bool parse_time(struct str text, uint64_t *out_s)
{
    enum { PARTS_MAX = 3, RADIX = 60, PART_MAX = 1000000000 };
    uint32_t count = 0;
    *out_s = 0;
    for (struct str rest = text; rest.text != NULL; count++) {
        uint64_t number = 0;
        struct str part = str_cut(rest, ':', &rest);
        bool is_number =
            part.length > 0 ? number_parse_u64(part, &number) : memchr(text.text, ':', text.length) != NULL;
        if (!is_number || number > PART_MAX || count == PARTS_MAX) return false;
        *out_s = *out_s * RADIX + number;
    }
    return true;
}

/* h_rt ends the job. s_rt beside it is when SIGUSR1 warns the job; alone it is the time limit, because a job without a
 * handler for that signal ends then. */
static int add_times(struct directive_options *out, const struct qsub_options *q, struct err *e)
{
    const struct qsub_pair *limits[] = {&q->hard_time, &q->soft_time};
    uint64_t seconds[] = {0, 0};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i]->text != NULL && !parse_time(str(limits[i]->text), &seconds[i]))
            return directive_options_refuse(out, &limits[i]->at, e, "#$ -l %s: '%s' is not a time, as 3600 or 1:0:0",
                                            i == 0 ? "h_rt" : "s_rt", limits[i]->text);
    }
    bool has_hard = q->hard_time.text != NULL, has_both = has_hard && q->soft_time.text != NULL;
    if (has_hard || q->soft_time.text != NULL)
        directive_options_add(out, &limits[!has_hard]->at, "--time=%llus", (unsigned long long)seconds[!has_hard]);
    if (!has_both || seconds[1] >= seconds[0]) return 0;
    if (seconds[0] - seconds[1] > SIGNAL_WARNING_LAST_S)
        return directive_options_refuse(out, &q->soft_time.at, e, "#$ -l s_rt: '%s' is more than %d s before h_rt",
                                        q->soft_time.text, SIGNAL_WARNING_LAST_S);
    directive_options_add(out, &q->soft_time.at, "--signal=USR1@%llu", (unsigned long long)(seconds[0] - seconds[1]));
    return 0;
}

/* The multiplier of a size of Grid Engine: K, M and G are powers of 1024, k, m and g of 1000; 0: none of them. */
static uint64_t size_factor(char unit)
{
    static const char binary[] = "KMGT", decimal[] = "kmgt";
    uint64_t factor = 1;
    const char *found = strchr(binary, unit);
    uint64_t base = found != NULL ? 1024 : 1000;
    if (found == NULL) found = strchr(decimal, unit);
    if (found == NULL || unit == '\0') return 0;
    for (const char *c = *found >= 'a' ? decimal : binary; c <= found; c++) factor *= base;
    return factor;
}

/* Sizes are bytes without a unit, and limits of each slot; fractions are accepted. */
static int add_memory(struct directive_options *out, const struct qsub_option *given, struct str value, struct err *e)
{
    double amount, mib = (double)(UINT64_C(1) << MIB_SHIFT);
    uint64_t factor = value.length > 0 ? size_factor(value.text[value.length - 1]) : 0;
    struct str number = {value.text, value.length - (factor > 0 ? 1 : 0)};
    if (!number_parse_double(number, &amount) || !(amount > 0 && amount < 1e15))
        return refuse_argument(out, given, "a size, as h_vmem=4G", e);
    amount = amount * (factor > 0 ? (double)factor : 1) / mib;
    uint64_t whole = (uint64_t)amount + (amount > (double)(uint64_t)amount ? 1 : 0);
    directive_options_add(out, given->at, "--mem-per-cpu=%lluM", (unsigned long long)whole);
    return 0;
}

static bool is_among(struct str name, const char *const *names)
{
    while (*names != NULL && !str_equal(name, str(*names))) names++;
    return *names != NULL;
}

/* One NAME[=VALUE] of -l. */
static int add_request(struct directive_options *out, struct qsub_options *q, const struct qsub_option *given,
                       struct str request, struct err *e)
{
    static const char *const sizes[] = {"h_vmem", "s_vmem", NULL};
    static const char *const gpus[] = {"gpu", "gpus", "ngpus", NULL};
    struct str value, name = str_cut(request, '=', &value);
    if (value.text == NULL) value = str("true");
    if (q->is_soft) {
        directive_options_add(out, given->at, "--soft=%.*s=%.*s", (int)name.length, name.text, (int)value.length,
                              value.text);
    } else if (str_equal(name, str("h_rt"))) {
        q->hard_time = (struct qsub_pair){arena_copy(out->arena, value), *given->at};
    } else if (str_equal(name, str("s_rt"))) {
        q->soft_time = (struct qsub_pair){arena_copy(out->arena, value), *given->at};
    } else if (is_among(name, gpus)) {
        directive_options_add(out, given->at, "--gpus-per-slot=%.*s", (int)value.length, value.text);
    } else if (is_among(name, sizes)) {
        return add_memory(out, given, value, e);
    } else {
        directive_options_add(out, given->at, "--request=%.*s=%.*s", (int)name.length, name.text, (int)value.length,
                              value.text);
    }
    return 0;
}

static int add_requests(struct directive_options *out, struct qsub_options *q, const struct qsub_option *given,
                        struct err *e)
{
    for (struct str rest = str(given->argument); rest.text != NULL;) {
        if (add_request(out, q, given, str_cut(rest, ',', &rest), e) != 0) return -1;
    }
    return 0;
}

/* --- files, environment, interpreter ------------------------------------------------------------------------------ */

static int add_file(struct directive_options *out, const struct qsub_options *q, const struct qsub_pair *file,
                    const char *letter, struct err *e)
{
    const char *own = foreign_options_find_qsub(letter)->own;
    const struct directive_path path = {
        .text = file->text,
        .directory = out->directory != NULL ? out->directory : q->directory,
        .is_array = out->is_array || q->tasks.text != NULL,
        .is_error = letter[0] == 'e',
    };
    struct buf pattern = {0};
    int status = directive_path_add_pattern(&path, &pattern, e);
    if (status == 0) {
        directive_options_add(out, &file->at, "--%s=%s", own, pattern.length > 0 ? pattern.text : "");
    } else {
        (void)err_prefix(e, "%s:%u:%u: %s -%s", out->file, file->at.line, file->at.column,
                         directive_prefixes[DIRECTIVE_QSUB], letter);
    }
    buf_release(&pattern);
    return status;
}

/* -S has to be the interpreter of the #! line, because that is what runs the script. */
static int check_shell(const struct directive_options *o, const struct qsub_option *given, struct err *e)
{
    struct str rest, first = str_trim(str_cut(o->script, '\n', &rest)), shell = str(given->argument);
    bool has_line = first.length > 2 && first.text[0] == '#' && first.text[1] == '!';
    if (has_line) {
        first = str_trim((struct str){first.text + 2, first.length - 2});
        if (str_equal(str_cut(first, ' ', &rest), shell)) return 0;
    }
    return directive_options_refuse(o, given->at, e, "%s: the #! line names the interpreter: write #!%s as line 1",
                                    given->shown, given->argument);
}

/* --- lists -------------------------------------------------------------------------------------------------------- */

static void add_to_list(struct directive_options *out, struct qsub_options *q, const char *own,
                        const struct qsub_option *given)
{
    struct qsub_list *list = q->lists;
    struct buf joined = {0};
    while (list->text != NULL && strcmp(list->own, own) != 0) list++;
    ensure(list < q->lists + LISTS_MAX);
    if (list->text != NULL) buf_format(&joined, "%s,", list->text);
    buf_add_text(&joined, given->argument);
    *list = (struct qsub_list){own, arena_copy(out->arena, str(joined.text)), *given->at};
    buf_release(&joined);
}

static void add_lists(struct directive_options *out, const struct qsub_options *q)
{
    for (const struct qsub_list *list = q->lists; list < q->lists + LISTS_MAX && list->text != NULL; list++) {
        bool has_all = q->has_all_variables && strcmp(list->own, "export") == 0;
        directive_options_add(out, &list->at, "--%s=%s%s", list->own, has_all ? "ALL," : "", list->text);
    }
}

/* --- all options -------------------------------------------------------------------------------------------------- */

/* -1: the argument is neither yes nor no. */
static int yes_or_no(const char *text)
{
    if (str_equal_nocase(str(text), str("y")) || str_equal_nocase(str(text), str("yes"))) return 1;
    if (str_equal_nocase(str(text), str("n")) || str_equal_nocase(str(text), str("no"))) return 0;
    return -1;
}

static int read_yes_no(struct directive_options *out, struct qsub_options *q, const struct qsub_option *given,
                       struct err *e)
{
    int is_yes = yes_or_no(given->argument);
    if (is_yes < 0) return refuse_argument(out, given, "y or n", e);
    if (given->row->meaning == FOREIGN_REQUEUE) {
        directive_options_add(out, given->at, "%s", is_yes ? "--requeue" : "--requeue=no");
        return 0;
    }
    struct qsub_pair *last = strcmp(given->row->own, "wait") == 0 ? &q->wait : &q->reserve;
    *last = (struct qsub_pair){is_yes ? given->row->own : NULL, *given->at};
    return 0;
}

static void add_environment(struct directive_options *out, const struct qsub_option *given)
{
    directive_options_add(out, given->at, "--pe=%s", given->argument);
    directive_options_add(out, given->at, "--slots=%s", given->second);
}

/* A date with a year; without one it would be another time each year. */
static int add_begin(struct directive_options *out, const struct qsub_option *given, struct err *e)
{
    size_t length = strlen(given->argument);
    if (length != DENSE_DATE && length != DENSE_DATE + FRACTION)
        return refuse_argument(out, given, "a date as CCYYMMDDhhmm[.SS]", e);
    directive_options_add(out, given->at, "--%s=%s", given->row->own, given->argument);
    return 0;
}

static int read_option(struct directive_options *out, struct qsub_options *q, const struct qsub_option *given,
                       struct err *e)
{
    const struct qsub_pair pair = {given->argument, *given->at};
    switch (given->row->meaning) {
    case FOREIGN_YES_NO:
    case FOREIGN_REQUEUE: return read_yes_no(out, q, given, e);
    case FOREIGN_TASK_RANGE: q->tasks = pair; return 0;
    case FOREIGN_TASK_LIMIT: q->task_limit = pair; return 0;
    case FOREIGN_ENVIRONMENT: add_environment(out, given); return 0;
    case FOREIGN_REQUEST: return add_requests(out, q, given, e);
    case FOREIGN_QUEUES: add_to_list(out, q, q->is_soft ? "soft-queues" : "queues", given); return 0;
    case FOREIGN_LIST: add_to_list(out, q, given->row->own, given); return 0;
    case FOREIGN_SOFT: q->is_soft = true; return 0;
    case FOREIGN_HARD: q->is_soft = false; return 0;
    case FOREIGN_HOLD:
        if (given->argument == NULL || strchr(given->argument, 'n') == NULL)
            directive_options_add(out, given->at, "--%s", given->row->own);
        return 0;
    case FOREIGN_FILE: *(strcmp(given->row->own, "error") == 0 ? &q->error : &q->output) = pair; return 0;
    case FOREIGN_JOIN:
        q->join = pair;
        return yes_or_no(given->argument) >= 0 ? 0 : refuse_argument(out, given, "y or n", e);
    case FOREIGN_ALL_VARIABLES: q->has_all_variables = true; return 0;
    case FOREIGN_SHELL: return check_shell(out, given, e);
    case FOREIGN_DATE: return add_begin(out, given, e);
    default:
        if (given->row->own != NULL && strcmp(given->row->own, "chdir") == 0) q->directory = given->argument;
        return directive_options_apply(out, given->row, given->at, given->shown, given->argument, e);
    }
}

/* What several options mean together. */
static int add_pairs(struct directive_options *out, const struct qsub_options *q, struct err *e)
{
    bool is_joined = q->join.text != NULL && yes_or_no(q->join.text) == 1;
    if (q->task_limit.text != NULL && q->tasks.text == NULL)
        return directive_options_refuse(out, &q->task_limit.at, e, "#$ -tc without -t: only an array has tasks");
    if (q->tasks.text != NULL)
        directive_options_add(out, &q->tasks.at, "--array=%s%s%s", q->tasks.text, q->task_limit.text != NULL ? "%" : "",
                              q->task_limit.text != NULL ? q->task_limit.text : "");
    if (q->output.text != NULL && add_file(out, q, &q->output, "o", e) != 0) return -1;
    if (q->error.text != NULL && !is_joined && add_file(out, q, &q->error, "e", e) != 0) return -1;
    return add_times(out, q, e);
}

static int read_line(const struct directive *line, struct directive_options *out, struct qsub_options *q, struct err *e)
{
    for (uint32_t i = 0; i < line->count; i++) {
        const struct directive_word *at = &line->words[i];
        struct qsub_option given = {.at = at};
        text_format(given.shown, sizeof given.shown, "%s %s", directive_prefixes[DIRECTIVE_QSUB], at->text);
        if (at->text[0] == '-') given.row = foreign_options_find_qsub(at->text + 1);
        if (given.row == NULL)
            return directive_options_refuse(out, at, e, "%s: qsub has no such option; write '# ' before a comment",
                                            given.shown);
        uint32_t wanted = given.row->argument_count, left = line->count - i - 1;
        if (given.row->meaning == FOREIGN_HOLD && left > 0 && line->words[i + 1].text[0] != '-') wanted = 1;
        if (wanted > left) return directive_options_refuse(out, at, e, "%s: its argument is missing", given.shown);
        if (wanted > 0) given.argument = line->words[++i].text;
        if (wanted > 1) given.second = line->words[++i].text;
        if (read_option(out, q, &given, e) != 0) return -1;
    }
    return 0;
}

int directive_options_of_qsub(const struct directive_lines *lines, struct directive_options *out, struct err *e)
{
    struct qsub_options q = {0};
    for (uint32_t i = 0; i < lines->list.count; i++) {
        const struct directive *line = &lines->list.items[i];
        if (line->family == DIRECTIVE_QSUB && read_line(line, out, &q, e) != 0) return -1;
    }
    add_lists(out, &q);
    if (q.wait.text != NULL) directive_options_add(out, &q.wait.at, "--%s", q.wait.text);
    if (q.reserve.text != NULL) directive_options_add(out, &q.reserve.at, "--%s", q.reserve.text);
    return add_pairs(out, &q, e);
}
