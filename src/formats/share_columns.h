/* The common part of the two text formats of a share tree: columns that are identified by their headings, and the rules
 * for names, shares and usage. */
#ifndef FAIRLEAD_FORMATS_SHARE_COLUMNS_H
#define FAIRLEAD_FORMATS_SHARE_COLUMNS_H

#include "formats/source_text.h"

/* Slurm's range. It stores shares in 32 bits; the next larger number means "parent". */
#define SHARES_FIELD_MAX UINT32_C(2147483646)
#define USAGE_FIELD_MAX 1e300

/* The largest depth of an association, users included; the root's is 0. */
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

/* The field of a shares column. */
struct raw_shares {
    uint32_t number; /* at most SHARES_FIELD_MAX; 0 for "parent" and for an empty field */
    bool is_parent;  /* "parent": the association competes with its parent's shares */
    bool is_missing; /* the field was empty */
};

/* A format: the headings of its columns. */
struct share_format {
    char separator;
    const char *headings[COLUMN_COUNT]; /* NULL: the format has no such column */
    bool is_optional[COLUMN_COUNT];
    bool allows_others; /* columns with other headings are ignored */
};

enum { SHARE_FIELDS_MAX = 256 };

/* The columns of one text, from its header line. */
struct share_columns {
    char separator;
    uint32_t field_count;
    uint8_t column_of[SHARE_FIELDS_MAX]; /* by field: enum share_column, or COLUMN_COUNT for a field to ignore */
    bool has[COLUMN_COUNT];
    bool ends_empty; /* lines end with a separator, as sshare -p prints them */
};

/* Reads the header line. ERR_INPUT if a column is missing, named twice or (unless allows_others) unknown. */
int share_columns_parse(const struct source *s, const struct share_format *format, struct str line,
                        struct share_columns *out_columns, struct err *e);

/* Cuts a line into out_fields[COLUMN_COUNT]. A column that the header does not have gets an empty view at the end of
 * the line. ERR_INPUT if the line has more or fewer fields than the header. */
int share_columns_cut(const struct source *s, const struct share_columns *c, struct str line, struct str *out_fields,
                      struct err *e);

/* ERR_INPUT if the name is empty, is not printable UTF-8, begins or ends with a blank, or contains '|'. what:
 * "account". */
int share_columns_check_name(const struct source *s, struct str name, const char *what, struct err *e);

/* Parses a whole number up to SHARES_FIELD_MAX, "parent" (not case-sensitive), or an empty field if may_be_empty.
 * ERR_INPUT. */
int share_columns_parse_shares(const struct source *s, struct str field, bool may_be_empty,
                               struct raw_shares *out_shares, struct err *e);

/* Parses a number from 0 to USAGE_FIELD_MAX; an empty field is 0 if may_be_empty. ERR_INPUT. */
int share_columns_parse_usage(const struct source *s, struct str field, bool may_be_empty, double *out_usage,
                              struct err *e);

/* Whether an account's name is that of the root account. */
bool share_columns_is_root(struct str account);

#endif
