/* A share listing in its three forms, row by row: for whoever has rows, from a file or from the service.
 *
 *     columns: Account User RawShares NormShares RawUsage NormUsage EffectvUsage FairShare LevelFS [GrpTRESRaw]
 *
 * people: an aligned table, six decimals, usage in whole numbers. -P: '|' between, a heading, %.17g, "inf", nothing where
 * there is nothing. --json: an array, an object a line, "inf", null. In the first two the account's name is indented. */
#ifndef FAIRLEAD_CLI_SHARE_PRINT_H
#define FAIRLEAD_CLI_SHARE_PRINT_H

#include "cli/options.h"
#include "cli/output.h"
#include "cli/table.h"

enum share_kind { SHARES_NUMBER, SHARES_OF_PARENT, SHARES_NOTHING };

/* NAN: nothing to show there. Empty user: an account. parent_account: the account above the row's account; empty for root. */
struct share_row {
    struct str account, user, partition, parent_account;
    uint32_t indent;
    enum share_kind kind;
    uint32_t shares;
    double norm_shares, raw_usage, norm_usage, effective_usage, fair_share, level_fs;
    struct str tres_raw; /* "cpu=2.5,mem=640"; only where the listing has that column */
};

struct share_printer {
    const struct listing_values *form;
    bool has_tres; /* the last column */
    struct output *out;
    struct table table;
    uint64_t row_count;
};

/* Begins a listing: heading or opening bracket. has_tres: with GrpTRESRaw. */
void share_printer_init(struct share_printer *p, const struct listing_values *form, bool has_tres, struct output *out);
void share_printer_add(struct share_printer *p, const struct share_row *row);

/* Ends it, and gives back what it needed. */
void share_printer_end(struct share_printer *p);

#endif
