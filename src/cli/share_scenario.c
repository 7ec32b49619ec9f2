#include "cli/share_scenario.h"

#include "cli/share_print.h"
#include "sim/answer.h"

bool scenario_is_text(struct str text)
{
    struct str begin = str_trim(text);
    if (str_starts(begin, str("\xef\xbb\xbf"))) begin = str_trim(str_range(begin.text + 3, begin.text + begin.length));
    return begin.length > 0 && begin.text[0] == '{';
}

static struct share_options merge_options(const struct call *call, const struct share_options *given,
                                          const struct scenario *s)
{
    const struct option_row *rows = call->command->options;
    struct share_options merged = s->policy.share;
    if (options_given(rows, &call->parsed, "algorithm")) merged.algorithm = given->algorithm;
    if (options_given(rows, &call->parsed, "ties")) merged.ties = given->ties;
    if (options_given(rows, &call->parsed, "dampening")) merged.dampening = given->dampening;
    return merged;
}

/* The name of the account above an account; a user's is that of his account. */
static struct str name_above(const struct scenario *s, const struct scenario_association *row)
{
    if (row->node == 0) return str("");
    if (row->user != NULL && row->parent != NONE) return name_above(s, &s->associations.items[row->parent]);
    if (row->user != NULL) return str("");
    return str(row->parent != NONE ? s->associations.items[row->parent].account : "root");
}

static struct share_row make_row(const struct scenario *s, const struct scenario_association *from,
                                 const struct share_table *table)
{
    uint32_t n = from->node;
    return (struct share_row){
        .account = str(from->account),
        .user = str(from->user),
        .partition = str(from->partition),
        .parent_account = name_above(s, from),
        .indent = from->depth,
        .kind = n == 0                          ? SHARES_NOTHING
                : from->shares == SHARES_PARENT ? SHARES_OF_PARENT
                                                : SHARES_NUMBER,
        .shares = from->shares,
        .norm_shares = table->norm_shares[n],
        .raw_usage = table->raw_usage[n],
        .norm_usage = table->norm_usage[n],
        .effective_usage = table->effective_usage[n],
        .fair_share = table->fair_share[n],
        .level_fs = table->level_fs[n],
    };
}

static void print_rows(struct call *call, const struct scenario *s, const struct share_options *options,
                       const struct listing_values *form)
{
    struct share_table table;
    struct share_printer printer;
    answer_shares(s, options, call->arena, &table);
    share_printer_init(&printer, form, false, call->out);
    for (uint32_t i = 0; i < s->associations.count; i++) {
        struct share_row row = make_row(s, &s->associations.items[i], &table);
        share_printer_add(&printer, &row);
    }
    share_printer_end(&printer);
}

int share_scenario_run(struct call *call, const char *path, struct str text, const struct share_options *options,
                       const struct listing_values *form, struct err *e)
{
    struct scenario s;
    int status = scenario_read(text, path, &s, e);
    if (status == 0) {
        struct share_options merged = merge_options(call, options, &s);
        print_rows(call, &s, &merged, form);
    }
    scenario_release(&s);
    return status;
}
