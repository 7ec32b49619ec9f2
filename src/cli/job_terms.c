#include "cli/job_terms.h"

#include <string.h>

#include "base/number.h"
#include "cli/foreign_syntax.h"
#include "cli/listing.h"
#include "cli/time_text.h"

/* "4" is "4-4", which takes the place of a range too. */
static int read_slots(const char *text, uint32_t *io_cpus, uint32_t *out_max, struct err *e)
{
    uint64_t min, max;
    struct str max_text, min_text = str_cut(str(text), '-', &max_text);
    bool is_good = number_parse_u64(min_text, &min) && min >= 1 && min <= WIRE_CPUS_MAX;
    max = is_good ? min : 0;
    if (is_good && max_text.text != NULL)
        is_good = number_parse_u64(max_text, &max) && max >= min && max <= WIRE_CPUS_MAX;
    if (!is_good)
        return err_set(e, ERR_INPUT, "--slots: '%.60s' is not a number from 1 to %d, or a range of them as 2-8", text,
                       WIRE_CPUS_MAX);
    if (*io_cpus != 0 && *io_cpus != min)
        return err_set(e, ERR_USAGE, "--slots and --cpus say different numbers; slots are CPUs: one of the two");
    *io_cpus = (uint32_t)min;
    *out_max = (uint32_t)max;
    return 0;
}

static int read_moment(const char *text, const char *option, int64_t *out_us, struct err *e)
{
    *out_us = WIRE_MOMENT_UNSET;
    if (text == NULL) return 0;
    if (strcmp(text, "none") != 0) return moment_read(str(text), option, now_us(), out_us, e);
    *out_us = 0;
    return 0;
}

static int read_set_priority(const char *text, int64_t *out_priority, struct err *e)
{
    uint64_t number = 0;
    *out_priority = -1;
    if (text == NULL) return 0;
    if (strcmp(text, "auto") != 0 && (!number_parse_u64(str(text), &number) || number == 0 || number >= UINT32_MAX))
        return err_set(e, ERR_INPUT, "--set-priority: '%.60s' is not a whole number from 1 to %u, or auto", text,
                       UINT32_MAX - 1);
    *out_priority = (int64_t)number;
    return 0;
}

/* Several -l are one list. */
static const char *join(const struct option_texts *texts, struct arena *arena)
{
    struct buf list = {0};
    if (texts->count == 0) return NULL;
    for (uint32_t i = 0; i < texts->count; i++) buf_format(&list, "%s%s", i > 0 ? "," : "", texts->items[i]);
    const char *joined = arena_copy(arena, (struct str){list.text, list.length});
    buf_release(&list);
    return joined;
}

int job_terms_read(const struct term_values *v, const struct option_row *rows, const struct parsed *parsed,
                   struct arena *arena, struct wire_terms *out_terms, uint32_t *io_cpus, struct err *e)
{
    struct wire_terms terms = {.partitions = v->partitions, .qos = v->qos, .project = v->project};
    terms.requests = join(&v->requests, arena);
    terms.nice = options_given(rows, parsed, "nice") ? (int32_t)v->nice : WIRE_TERM_UNSET;
    terms.site = options_given(rows, parsed, "site-factor") ? (int32_t)v->site : WIRE_TERM_UNSET;
    terms.posix_priority = options_given(rows, parsed, "priority") ? (int32_t)v->posix_priority : WIRE_TERM_UNSET;
    terms.job_share = options_given(rows, parsed, "job-share") ? (int64_t)v->job_share : -1;
    terms.override_tickets = options_given(rows, parsed, "override-tickets") ? (int64_t)v->override_tickets : -1;
    if (read_moment(v->begin, "--begin", &terms.begin_us, e) != 0) return -1;
    if (read_moment(v->deadline, "--deadline", &terms.deadline_us, e) != 0) return -1;
    if (read_set_priority(v->set_priority, &terms.set_priority, e) != 0) return -1;
    if (v->slots && read_slots(v->slots, io_cpus, &terms.slots_max, e) != 0) return -1;
    *out_terms = terms;
    return 0;
}

/* Whether the instance has no such thing. */
static bool lacks(const struct err *e, const char *kind)
{
    char words[40];
    text_format(words, sizeof words, "no %s '", kind);
    return e->code == ERR_NOT_FOUND && strstr(ERR_SENTENCE(e), words) != NULL;
}

static void explain_requests(const char *requests, struct err *e)
{
    for (struct str rest = str(requests); rest.text != NULL;) {
        struct str value, name = str_cut(str_cut(rest, ',', &rest), '=', &value);
        const char *ours = habit_request(name);
        if (ours == NULL) continue;
        err_set(e, ERR_NOT_FOUND, "no resource '%.*s': %s", (int)name.length, name.text, ours);
        return;
    }
}

int job_terms_explain(const struct wire_terms *terms, struct err *e)
{
    int64_t unused;
    if (lacks(e, "resource")) explain_requests(terms->requests, e);
    if (terms->partitions && lacks(e, "partition") && number_parse_i64(str(terms->partitions), &unused))
        err_set(e, ERR_NOT_FOUND, "no partition '%s': a POSIX priority is --priority N", terms->partitions);
    if (terms->qos && lacks(e, "qos") && strstr(terms->qos, ".q") != NULL)
        err_set(e, ERR_NOT_FOUND, "no qos '%.64s': a queue is a partition, -p NAME", terms->qos);
    return -1;
}
