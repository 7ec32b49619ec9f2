#include "cli/share_scenario.h"

#include "cli/setting_remarks.h"
#include "sim/scenario.h"

bool share_scenario_is_text(struct str text)
{
    struct str rest = str_trim(text);
    if (str_starts(rest, str("\xef\xbb\xbf"))) rest = str_trim(str_range(rest.text + 3, rest.text + rest.length));
    return rest.length > 0 && rest.text[0] == '{';
}

static struct share_options merge_options(const struct call *call, const struct share_options *given,
                                          const struct scenario *s)
{
    struct share_options merged = s->state.policy.share;
    if (options_given(&call->parsed, "algorithm")) merged.algorithm = given->algorithm;
    if (options_given(&call->parsed, "ties")) merged.ties = given->ties;
    if (options_given(&call->parsed, "dampening")) merged.dampening = given->dampening;
    return merged;
}

static int write_rows(struct call *call, struct scenario *s, const struct share_options *options,
                      const struct column_table *columns, const struct listing_values *form, struct err *e)
{
    struct share_table table;
    struct share_values row;
    struct listing listing;
    scenario_shares(s, options, call->arena, &table);
    int status = listing_begin(&listing, columns, form, call->out, e);
    for (uint32_t i = 0; status == 0 && i < s->association_count; i++) {
        scenario_share_row(s, &table, i, &row);
        listing_add(&listing, row.value);
    }
    if (status == 0) listing_end(&listing);
    listing_release(&listing);
    if (status == 0 && listing_is_table(form) && s->association_count == 0)
        output_note("the scenario has no 'tree': nothing to list");
    if (status == 0) setting_remarks_of_all(&s->state.settings);
    return status;
}

int share_scenario_run(struct call *call, const char *path, struct str text, const struct share_options *options,
                       const struct column_table *columns, const struct listing_values *form, struct err *e)
{
    struct scenario s;
    int status = scenario_read(text, path, &s, e);
    if (status == 0) {
        struct share_options merged = merge_options(call, options, &s);
        call->error_has_position = false;
        status = write_rows(call, &s, &merged, columns, form, e);
    }
    scenario_release(&s);
    return status;
}
