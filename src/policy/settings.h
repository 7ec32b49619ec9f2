/* The table of settings: what an administrator may turn. A setting has a name that ends in its unit, a type, a range, a
 * default and one line of help; from its row come parsing, listing and the manual. Values are whole numbers. */
#ifndef FAIRLEAD_POLICY_SETTINGS_H
#define FAIRLEAD_POLICY_SETTINGS_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/text.h"

enum setting {
    SET_HALFLIFE_S,
    SET_TIES,
    SET_DEFAULT_CPUS,
    SET_DEFAULT_MEM_MIB,
    SET_DEFAULT_TIME_S,
    SET_GRACE_S,
    SET_HOST_CPUS,
    SET_HOST_MEM_MIB,
    SET_HOST_GPUS,
    SET_MAX_ARRAY_TASKS,
    SET_MAX_JOBS,
    SETTING_COUNT
};

enum { SETTING_AUTO = -1 }; /* of a setting that may be found out: "auto" */

struct settings {
    int64_t value[SETTING_COUNT];
};

struct setting_row {
    const char *name;
    const char *help;
    int64_t least, most, standard; /* least is SETTING_AUTO where "auto" is accepted */
    enum { SETTING_NUMBER, SETTING_SPAN, SETTING_MEMORY, SETTING_CHOICE } type;
    const char *choices; /* of SETTING_CHOICE: "merge,slurm"; the value is the place in it */
};

extern const struct setting_row settings_table[SETTING_COUNT];

/* Every setting at its default. */
struct settings settings_standard(void);

/* The setting of that name, or ERR_NOT_FOUND naming the nearest. */
int setting_find(struct str name, enum setting *out_setting, struct err *e);

/* Reads a value for a setting: ERR_INPUT names the setting, the value and what is accepted. A span is in seconds, or as
 * sbatch -t writes spans where it has ':' or '-'; memory in MiB or with a suffix. */
int setting_parse(enum setting s, struct str value, int64_t *out_value, struct err *e);

/* The value as setting_parse reads it back. */
void setting_format(enum setting s, int64_t value, struct buf *out);

#endif
