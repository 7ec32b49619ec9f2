/* What the forms of a share tree have in common: columns found by their headings, and the same rules for names, shares
 * and usage. */
#ifndef FAIRLEAD_FORMATS_SHARE_FIELDS_H
#define FAIRLEAD_FORMATS_SHARE_FIELDS_H

#include "formats/source.h"

/* Slurm's range: it keeps shares in 32 bits and means "parent" by the number behind the greatest. */
#define SHARES_FIELD_MAX UINT32_C(2147483646)
#define USAGE_FIELD_MAX 1e300

/* Depth of the deepest association, users included; the root's is 0. */
enum { SHARE_DEPTH_MAX = 64 };

enum share_column {
    COLUMN_PARENT,
    COLUMN_ACCOUNT,
    COLUMN_USER,
    COLUMN_PARTITION,
    COLUMN_SHARES,
    COLUMN_USAGE,
    COLUMN_COUNT
};

struct share_field {
    uint32_t number; /* SHARES_FIELD_MAX at most; 0 for "parent" and for nothing */
    bool is_parent;  /* "parent": competes with its parent's shares */
    bool is_missing; /* the field was empty */
};

/* One form: how its columns are called. NULL: it has none such. */
struct share_form {
    char separator;
    const char *headings[COLUMN_COUNT];
    bool may_miss[COLUMN_COUNT];
    bool may_have_others; /* columns with other headings are ignored */
};

enum { SHARE_FIELDS_MAX = 256 };

/* Which field of a line is which column, from the header. */
struct share_header {
    char separator;
    uint32_t field_count;
    uint8_t column_of[SHARE_FIELDS_MAX]; /* by field: enum share_column, or COLUMN_COUNT for one to ignore */
    bool has[COLUMN_COUNT];
    bool ends_empty; /* sshare -p: lines end with a separator */
};

/* Reads the header line. ERR_INPUT: a column missing, twice, or (unless may_have_others) unknown. */
int share_header_read(const struct source *s, const struct share_form *form, struct str line,
                      struct share_header *out_header, struct err *e);

/* Cuts a line into out_fields[COLUMN_COUNT]; columns the header has not are empty views at the line's end. */
int share_line_cut(const struct source *s, const struct share_header *h, struct str line, struct str *out_fields,
                   struct err *e);

/* A name: not empty, printable UTF-8, no blank at either end, no '|'. what: "account". */
int share_name_check(const struct source *s, struct str name, const char *what, struct err *e);

/* A whole number, or "parent" in any case, or nothing (is_missing: the caller decides). */
int share_shares_read(const struct source *s, struct str field, struct share_field *out_shares, struct err *e);

/* A number from 0 to USAGE_FIELD_MAX; nothing is 0 where may_be_empty. */
int share_usage_read(const struct source *s, struct str field, bool may_be_empty, double *out_usage, struct err *e);

/* How much of a text a message quotes, as the two arguments of %.*s. */
#define QUOTED(s) ((s).length > 60 ? 60 : (int)(s).length), (s).text

#endif
