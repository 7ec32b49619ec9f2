#include "policy/objects.h"

#include <string.h>

#include "base/array.h"
#include "base/ensure.h"
#include "base/number.h"
#include "base/quantity.h"
#include "policy/policy_text.h"

enum { DAY_S = 86400, YEAR_S = 366 * DAY_S };

#define FSHARE                                                                                   \
    {                                                                                            \
        "fshare", "functional shares", FIELD_NUMBER, 0, UINT32_MAX, {0, 0, ""}, NULL, NULL, NULL \
    }
#define OTICKET                                                                                  \
    {                                                                                            \
        "oticket", "override tickets", FIELD_NUMBER, 0, UINT32_MAX, {0, 0, ""}, NULL, NULL, NULL \
    }

static const struct field partition_fields[PARTITION_FIELD_COUNT] = {
    [PARTITION_JOB_FACTOR] = {"PriorityJobFactor",
                              "partition term of a job's priority",
                              FIELD_NUMBER,
                              0,
                              65533,
                              {1, 0, ""},
                              NULL,
                              NULL,
                              NULL},
    [PARTITION_TIER] = {"PriorityTier",
                        "jobs of a higher tier come first, whatever their priority",
                        FIELD_NUMBER,
                        0,
                        65533,
                        {1, 0, ""},
                        NULL,
                        NULL,
                        NULL},
    [PARTITION_MAX_TIME] = {"MaxTime",
                            "longest time limit, in minutes or as D-H:M:S",
                            FIELD_MINUTES,
                            60,
                            10.0 * YEAR_S,
                            {FIELD_SPECIAL, 0, ""},
                            NULL,
                            "UNLIMITED",
                            NULL},
    [PARTITION_BILLING_WEIGHTS] = {"TRESBillingWeights",
                                   "what a job costs: CPU=1.0,Mem=0.25G; empty: its CPUs",
                                   FIELD_TEXT,
                                   0,
                                   0,
                                   {0, 0, ""},
                                   NULL,
                                   NULL,
                                   NULL},
    [PARTITION_FSHARE] = FSHARE,
    [PARTITION_OTICKET] = OTICKET,
};

static const struct field qos_fields[QOS_FIELD_COUNT] = {
    [QOS_PRIORITY] =
        {"priority", "QOS term of a job's priority", FIELD_NUMBER, 0, UINT32_MAX, {0, 0, ""}, NULL, NULL, NULL},
    [QOS_USAGE_FACTOR] = {"usage_factor",
                          "what usage of its jobs is multiplied with",
                          FIELD_REAL,
                          0,
                          1e9,
                          {0, 1.0, ""},
                          NULL,
                          NULL,
                          NULL},
    [QOS_USAGE_THRESHOLD] = {"usage_threshold",
                             "least fair-share factor to run with, where flags say so",
                             FIELD_REAL,
                             0,
                             1,
                             {0, 0, ""},
                             NULL,
                             NULL,
                             NULL},
    [QOS_FLAGS] = {"flags",
                   "NoDecay, EnforceUsageThreshold, by commas",
                   FIELD_TEXT,
                   0,
                   0,
                   {0, 0, ""},
                   NULL,
                   NULL,
                   policy_text_qos_flags_check},
};

static const struct field user_fields[USER_FIELD_COUNT] = {
    [USER_FSHARE] = FSHARE,
    [USER_OTICKET] = OTICKET,
    [USER_DEPARTMENT] = {"department",
                         "whose functional shares and override tickets count too",
                         FIELD_TEXT,
                         0,
                         0,
                         {0, 0, "defaultdepartment"},
                         NULL,
                         NULL,
                         NULL},
    [USER_MAY_USE_DEADLINE] =
        {"deadline", "whether jobs may have a deadline", FIELD_BOOL, 0, 1, {0, 0, ""}, NULL, NULL, NULL},
};

static const struct field project_fields[PROJECT_FIELD_COUNT] = {
    [PROJECT_FSHARE] = FSHARE,
    [PROJECT_OTICKET] = OTICKET,
};

static const struct field resource_fields[RESOURCE_FIELD_COUNT] = {
    [RESOURCE_TYPE] = {"type",
                       "how amounts are written",
                       FIELD_CHOICE,
                       0,
                       0,
                       {RESOURCE_INT, 0, ""},
                       "INT,DOUBLE,BOOL,TIME,MEMORY,STRING,CSTRING,RESTRING,HOST",
                       NULL,
                       NULL},
    [RESOURCE_URGENCY] =
        {"urgency", "urgency for each unit a job asks for", FIELD_REAL, -1e18, 1e18, {0, 0, ""}, NULL, NULL, NULL},
    [RESOURCE_AMOUNT] = {"amount",
                         "how much there is for all jobs together",
                         FIELD_NUMBER,
                         0,
                         9007199254740992.0,
                         {FIELD_SPECIAL, 0, ""},
                         NULL,
                         "UNLIMITED",
                         NULL},
};

const struct field object_usage_reset_field = {
    "RawUsage", "0: what was used so far is forgotten", FIELD_NUMBER, 0, 0, {0, 0, ""}, NULL, NULL, NULL};

const struct object_class object_classes[OBJECT_KIND_COUNT] = {
    [OBJECT_PARTITION] = {"partition", "partitions", "where jobs are submitted to, and what they cost there",
                          partition_fields, PARTITION_FIELD_COUNT, false},
    [OBJECT_QOS] = {"qos", "qos", "quality of service: a priority, and what usage is multiplied with", qos_fields,
                    QOS_FIELD_COUNT, true},
    [OBJECT_USER] = {"user", "users", "what the ticket policies give a user", user_fields, USER_FIELD_COUNT, false},
    [OBJECT_PROJECT] = {"project", "projects", "what the ticket policies give the jobs of a project", project_fields,
                        PROJECT_FIELD_COUNT, true},
    [OBJECT_DEPARTMENT] = {"department", "departments",
                           "what the ticket policies give the jobs of a department's users", project_fields,
                           PROJECT_FIELD_COUNT, false},
    [OBJECT_RESOURCE] = {"resource", "resources", "what jobs request with -l, and how urgent it makes them",
                         resource_fields, RESOURCE_FIELD_COUNT, false},
};

struct object object_defaults(enum object_kind kind, const char *name)
{
    const struct object_class *class = &object_classes[kind];
    struct object o = {.name = name};
    for (uint32_t i = 0; i < OBJECT_FIELDS_MAX; i++)
        o.value[i] = i < class->field_count ? class->fields[i].default_value : (struct field_value){.text = ""};
    if (kind == OBJECT_RESOURCE && strcmp(name, SLOTS_RESOURCE) == 0) o.value[RESOURCE_URGENCY].real = SLOTS_URGENCY;
    return o;
}

int object_set(struct object *o, enum object_kind kind, struct str key, struct str value, struct arena *arena,
               struct err *e)
{
    const struct object_class *class = &object_classes[kind];
    uint32_t place = field_find(class->fields, class->field_count, key);
    if (place == NONE) {
        struct buf names = {0};
        field_names(class->fields, class->field_count, &names);
        (void)err_value(e, "field", key, "one of %s", names.text);
        buf_release(&names);
        return err_of(e, class->name, str(o->name));
    }
    if (field_parse(&class->fields[place], value, arena, &o->value[place], e) != 0)
        return err_of(e, class->name, str(o->name));
    return 0;
}

/* "0:30:0" and "90" as Grid Engine writes times: hours, minutes and seconds, or seconds. */
static bool parse_time(struct str value, double *out_s)
{
    double total = 0.0;
    int parts = 0;
    for (struct str rest = value; rest.text != NULL; parts++) {
        uint64_t part;
        if (!number_parse_u64(str_cut(rest, ':', &rest), &part) || part > 1000000000000) return false;
        total = total * 60.0 + (double)part;
    }
    *out_s = total;
    return parts == 1 || parts == 3;
}

/* A number with k, m, g (thousands) or K, M, G (1024s), as Grid Engine writes memory; in bytes. */
static bool parse_memory(struct str value, double *out_bytes)
{
    static const char letters[] = "kmgKMG";
    double scale = 1.0, number;
    for (int i = 0; value.length > 0 && i < 6; i++) {
        if (value.text[value.length - 1] != letters[i]) continue;
        value.length--;
        for (int power = 0; power <= i % 3; power++) scale *= i < 3 ? 1000.0 : 1024.0;
        break;
    }
    if (!number_parse_double(value, &number) || !(number >= 0.0 && number <= 1e15)) return false;
    *out_bytes = number * scale;
    return true;
}

static bool parse_bool(struct str value, double *out_amount)
{
    static const char *const words[] = {"false", "true", "no", "yes", "0", "1"};
    for (int i = 0; i < 6; i++) {
        if (!str_equal_nocase(value, str(words[i]))) continue;
        *out_amount = i % 2;
        return true;
    }
    return false;
}

int object_resource_amount_parse(enum resource_type type, const char *name, struct str value, double *out_amount,
                                 struct err *e)
{
    static const char *const accepted[] = {"a whole number from 0 to 9007199254740992",
                                           "a number from 0 to 1e15",
                                           "true or false",
                                           "seconds or H:M:S",
                                           "bytes from 0 to 1e15, or with k, m, g (1000s), K, M or G (1024s)",
                                           "a text"};
    uint64_t whole;
    double amount = 1.0;
    bool is_good = value.length > 0;
    switch (type) {
    case RESOURCE_INT:
        is_good = number_parse_u64(value, &whole) && whole <= UINT64_C(1) << 53;
        if (is_good) amount = (double)whole;
        break;
    case RESOURCE_DOUBLE: is_good = number_parse_double(value, &amount) && amount >= 0.0 && amount <= 1e15; break;
    case RESOURCE_BOOL: is_good = parse_bool(value, &amount); break;
    case RESOURCE_TIME: is_good = parse_time(value, &amount); break;
    case RESOURCE_MEMORY: is_good = parse_memory(value, &amount); break;
    default: break;
    }
    if (!is_good) {
        (void)err_value(e, "amount", value, "%s", accepted[type < RESOURCE_STRING ? type : RESOURCE_STRING]);
        return err_of(e, "resource", str(name));
    }
    *out_amount = amount;
    return 0;
}
