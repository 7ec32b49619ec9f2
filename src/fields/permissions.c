#include "fields/permissions.h"

#include "base/text.h"

const char *const permission_roles[ROLE_COUNT] = {
    [ROLE_USER] = "user",
    [ROLE_OPERATOR] = "operator",
    [ROLE_ADMINISTRATOR] = "administrator",
};

#define USER(words, does)                                  \
    {                                                      \
        .name = (words), .what = (does), .role = ROLE_USER \
    }
#define OPERATOR(words, does)                                  \
    {                                                          \
        .name = (words), .what = (does), .role = ROLE_OPERATOR \
    }
#define ADMINISTRATOR(words, does)                                  \
    {                                                               \
        .name = (words), .what = (does), .role = ROLE_ADMINISTRATOR \
    }

const struct permission_row permissions[PERMISSION_COUNT] = {
    [PERMISSION_UNSET] = {.name = "unset", .what = "do this", .role = ROLE_COUNT},
    [PERMISSION_READ] = USER("read", "read listings, without what private_data hides"),
    [PERMISSION_SUBMIT] = USER("submit", "submit jobs"),
    [PERMISSION_OWN_JOBS] =
        USER("own_jobs", "cancel, hold, release, requeue, suspend, resume, signal and update own jobs"),
    [PERMISSION_MOVE_IN] = USER("move_in", "move in the history of an own private instance"),
    [PERMISSION_ALL_JOBS] =
        OPERATOR("all_jobs", "cancel, hold, release, requeue, suspend, resume, signal and update jobs of other users"),
    [PERMISSION_JOB_FIELDS] =
        OPERATOR("job_fields", "raise priorities and time limits of jobs, and set what only an operator may set"),
    [PERMISSION_OPERATOR_HOLDS] = OPERATOR("operator_holds", "release jobs that an operator holds"),
    [PERMISSION_OPERATOR_SUSPENSIONS] = OPERATOR("operator_suspensions", "resume jobs that an operator suspended"),
    [PERMISSION_HIDDEN] = OPERATOR("hidden", "read what private_data hides from others"),
    [PERMISSION_PROCESSES] = OPERATOR("processes", "list processes of other users"),
    [PERMISSION_VERIFY] = OPERATOR("verify", "recompute all usage from the job records"),
    [PERMISSION_ACCOUNTS] = ADMINISTRATOR("accounts", "add, modify and delete accounts"),
    [PERMISSION_USERS] = ADMINISTRATOR("users", "add, modify and delete users"),
    [PERMISSION_SETTINGS] = ADMINISTRATOR("settings", "change settings"),
    [PERMISSION_OBJECTS] = ADMINISTRATOR("objects", "add, modify and delete partitions, hosts and other objects"),
    [PERMISSION_AUDIT] = ADMINISTRATOR("audit", "read the audit log"),
    [PERMISSION_BACKUP] =
        ADMINISTRATOR("backup", "copy the database, which has the scripts and environments of all jobs"),
    [PERMISSION_PRUNE] = ADMINISTRATOR("prune", "remove jobs from the history"),
    [PERMISSION_CLOCK] = ADMINISTRATOR("clock", "say what a gap is"),
};

static const struct field rows[PERMISSION_FIELD_COUNT] = {
    [PERMISSION_FIELD_NAME] = {.name = "name", .help = "the permission", .type = FIELD_TEXT},
    [PERMISSION_FIELD_WHAT] = {.name = "what", .help = "what it lets one do", .type = FIELD_TEXT},
    [PERMISSION_FIELD_ROLE] = {.name = "role",
                               .help = "the first role that has it; later ones have it, too: user, operator, "
                                       "administrator",
                               .type = FIELD_TEXT},
    [PERMISSION_FIELD_ALLOWED] = {.name = "allowed", .help = "whether the client has it", .type = FIELD_BOOL, .max = 1},
};

const struct field_table permission_fields = {.name = "Permission",
                                              .help = "A permission, and who has it.",
                                              .rows = rows,
                                              .row_size = sizeof rows[0],
                                              .count = PERMISSION_FIELD_COUNT};

static const struct column columns[] = {
    {.field = PERMISSION_FIELD_NAME, .heading = "PERMISSION"},
    {.field = PERMISSION_FIELD_ALLOWED, .heading = "ALLOWED"},
    {.field = PERMISSION_FIELD_ROLE, .heading = "FROM"},
    {.field = PERMISSION_FIELD_WHAT, .heading = "WHAT"},
};

const struct column_table permission_fields_columns = {
    .fields = &permission_fields, .columns = columns, .count = sizeof columns / sizeof *columns};

int permission_require(enum permission p, enum role role, const char *user, const char *what, struct err *e)
{
    char who[300] = "an unknown user";
    if (permission_is_of(p, role)) return 0;
    if (user != NULL) text_format(who, sizeof who, "user '%s'", user);
    bool is_operator = permissions[p].role == ROLE_OPERATOR;
    return err_set(e, ERR_DENIED, "only an %s may %s; you are %s", is_operator ? "operator" : "administrator",
                   what != NULL ? what : permissions[p].what, who);
}
