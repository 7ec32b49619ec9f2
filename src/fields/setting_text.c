#include "fields/setting_text.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

const char *const usage_resource_names[USAGE_RESOURCE_COUNT] = {
    [USAGE_CPU] = "cpu",
    [USAGE_MEM] = "mem",
    [USAGE_IO] = "io",
    [USAGE_FINISHED_JOBS] = "finished_jobs",
};

enum { DURATION_OFFSET_MAX_S = 1000000000 };

enum usage_resource usage_resource_find(struct str name)
{
    int r = 0;
    while (r < USAGE_RESOURCE_COUNT && !str_equal(str(usage_resource_names[r]), name)) r++;
    return (enum usage_resource)r;
}

void usage_resource_add_names(struct buf *out)
{
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) {
        const char *separator = r == 0 ? "" : r == USAGE_RESOURCE_COUNT - 1 ? " and " : ", ";
        buf_format(out, "%s%s", separator, usage_resource_names[r]);
    }
}

/* --- words that are bits ------------------------------------------------------------------------------------------ */

struct flag_word {
    const char *word;
    uint32_t bits;
};

static const struct flag_word priority_words[] = {
    {.word = "ACCRUE_ALWAYS", .bits = FLAG_ACCRUE_ALWAYS},
    {.word = "CALCULATE_RUNNING", .bits = FLAG_CALCULATE_RUNNING},
    {.word = "DEPTH_OBLIVIOUS", .bits = FLAG_DEPTH_OBLIVIOUS},
    {.word = "NO_FAIR_TREE", .bits = FLAG_NO_FAIR_TREE},
    {.word = "INCR_ONLY", .bits = FLAG_INCR_ONLY},
    {.word = "MAX_TRES", .bits = FLAG_MAX_TRES},
    {.word = "MAX_TRES_GRES", .bits = FLAG_MAX_TRES_GRES},
    {.word = "NO_NORMAL_ALL", .bits = FLAG_NO_NORMAL_ALL},
    {.word = "NO_NORMAL_ASSOC", .bits = FLAG_NO_NORMAL_ASSOC},
    {.word = "NO_NORMAL_PART", .bits = FLAG_NO_NORMAL_PART},
    {.word = "NO_NORMAL_QOS", .bits = FLAG_NO_NORMAL_QOS},
    {.word = "NO_NORMAL_TRES", .bits = FLAG_NO_NORMAL_TRES},
    {.word = "SMALL_RELATIVE_TO_TIME", .bits = FLAG_SMALL_RELATIVE_TO_TIME},
    {.word = "FAIR_TREE", .bits = 0},
    {.word = "TICKET_BASED", .bits = 0},
    {.word = NULL},
};

static const struct flag_word qos_words[] = {
    {.word = "NoDecay", .bits = QOS_NO_DECAY},
    {.word = "EnforceUsageThreshold", .bits = QOS_ENFORCE_USAGE_THRESHOLD},
    {.word = "DenyOnLimit", .bits = QOS_DENY_ON_LIMIT},
    {.word = "OverPartQOS", .bits = QOS_OVER_PARTITION_QOS},
    {.word = "PartitionMaxNodes", .bits = QOS_PARTITION_MAX_NODES},
    {.word = "PartitionMinNodes", .bits = QOS_PARTITION_MIN_NODES},
    {.word = "PartitionTimeLimit", .bits = QOS_PARTITION_TIME_LIMIT},
    {.word = NULL},
};

static const struct flag_word enforce_words[] = {
    {.word = "associations", .bits = ENFORCE_ASSOCIATIONS},
    {.word = "limits", .bits = ENFORCE_LIMITS | ENFORCE_ASSOCIATIONS},
    {.word = "qos", .bits = ENFORCE_QOS | ENFORCE_ASSOCIATIONS},
    {.word = "safe", .bits = ENFORCE_SAFE | ENFORCE_LIMITS | ENFORCE_ASSOCIATIONS},
    {.word = "all", .bits = ENFORCE_SAFE | ENFORCE_LIMITS | ENFORCE_QOS | ENFORCE_ASSOCIATIONS},
    {.word = "none", .bits = 0},
    {.word = "nojobs", .bits = 0},
    {.word = "nosteps", .bits = 0},
    {.word = "wckeys", .bits = ENFORCE_ASSOCIATIONS},
    {.word = NULL},
};

const char *const setting_text_private_words[PRIVATE_KIND_COUNT] = {"jobs", "details", "usage", "users"};

static const struct flag_word private_words[] = {
    {.word = "jobs", .bits = PRIVATE_JOBS},
    {.word = "details", .bits = PRIVATE_DETAILS},
    {.word = "usage", .bits = PRIVATE_USAGE},
    {.word = "users", .bits = PRIVATE_USERS},
    {.word = NULL},
};

static int unknown_word(const struct flag_word *words, struct str word, const char *what, struct err *e)
{
    char list[400];
    size_t length = 0;
    for (const struct flag_word *w = words; w->word != NULL; w++)
        length += text_format(list + length, sizeof list - length, "%s%s", w == words ? "" : ", ", w->word);
    return err_value(e, what, word, "one of %s", list);
}

static int parse_words(const struct flag_word *words, struct str text, const char *what, uint32_t *out_flags,
                       struct err *e)
{
    uint32_t flags = 0;
    if (str_trim(text).length == 0) text = (struct str){0};
    for (struct str rest = text; rest.text != NULL;) {
        struct str word = str_trim(str_cut(rest, ',', &rest));
        const struct flag_word *w = words;
        while (w->word != NULL && !str_equal_nocase(str(w->word), word)) w++;
        if (w->word == NULL) return unknown_word(words, word, what, e);
        flags |= w->bits;
    }
    *out_flags = flags;
    return 0;
}

int setting_text_priority_flags(struct str text, const char *what, uint32_t *out_flags, struct err *e)
{
    return parse_words(priority_words, text, what, out_flags, e);
}

int setting_text_priority_flags_check(struct str text, const char *what, struct err *e)
{
    uint32_t unused;
    return setting_text_priority_flags(text, what, &unused, e);
}

int setting_text_qos_flags(struct str text, const char *what, uint32_t *out_flags, struct err *e)
{
    return parse_words(qos_words, text, what, out_flags, e);
}

int setting_text_qos_flags_check(struct str text, const char *what, struct err *e)
{
    uint32_t unused;
    return setting_text_qos_flags(text, what, &unused, e);
}

int setting_text_enforce(struct str text, const char *what, uint32_t *out_flags, struct err *e)
{
    return parse_words(enforce_words, text, what, out_flags, e);
}

int setting_text_enforce_check(struct str text, const char *what, struct err *e)
{
    uint32_t unused;
    return setting_text_enforce(text, what, &unused, e);
}

int setting_text_private(struct str text, const char *what, uint32_t *out_kinds, struct err *e)
{
    return parse_words(private_words, text, what, out_kinds, e);
}

int setting_text_private_check(struct str text, const char *what, struct err *e)
{
    uint32_t unused;
    return setting_text_private(text, what, &unused, e);
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

int setting_text_group_check(struct str text, const char *what, struct err *e)
{
    enum { GROUP_BYTES = 63 };
    bool is_printable = str_is_printable(text);
    for (size_t i = 0; i < text.length; i++) is_printable &= text.text[i] != ' ' && text.text[i] != ':';
    if (is_printable && text.length <= GROUP_BYTES) return 0;
    return err_value(e, what, text, "the name of a group with at most 63 bytes, or nothing");
}

bool setting_text_next_exempt(struct str *rest, struct str *out_name, bool *out_is_group)
{
    if (rest->length == 0) return false;
    struct str name = str_trim(str_cut(*rest, ',', rest));
    *out_is_group = name.length > 0 && name.text[0] == '@';
    *out_name = *out_is_group ? str_range(name.text + 1, name.text + name.length) : name;
    return true;
}

int setting_text_exempt_check(struct str text, const char *what, struct err *e)
{
    enum { NAME_BYTES = 63 };
    bool is_group;
    for (struct str rest = text, name; setting_text_next_exempt(&rest, &name, &is_group);) {
        bool is_name = name.length > 0 && name.length <= NAME_BYTES && str_is_printable(name);
        for (size_t i = 0; i < name.length; i++)
            is_name &= name.text[i] != ' ' && name.text[i] != ':' && name.text[i] != '@';
        if (!is_name || (rest.text != NULL && rest.length == 0))
            return err_value(e, what, text, "names of users, and of groups behind @, separated by commas");
    }
    return 0;
}

/* --- the hierarchy ------------------------------------------------------------------------------------------------ */

int setting_text_hierarchy(struct str text, const char *what, char out_order[4], struct err *e)
{
    char order[4] = "";
    size_t count = 0;
    bool is_none = str_equal(text, str("NONE"));
    for (size_t i = 0; !is_none && i < text.length; i++) {
        char c = text.text[i];
        if (count == 3 || (c != 'O' && c != 'F' && c != 'S') || strchr(order, c) != NULL) {
            count = 0;
            break;
        }
        order[count++] = c;
        order[count] = '\0';
    }
    if (count == 0 && !is_none) return err_value(e, what, text, "NONE, or letters of O, F and S, each at most once");
    memcpy(out_order, order, sizeof order);
    return 0;
}

int setting_text_hierarchy_check(struct str text, const char *what, struct err *e)
{
    char unused[4];
    return setting_text_hierarchy(text, what, unused, e);
}

/* --- lists by resource -------------------------------------------------------------------------------------------- */

#define RESOURCE_VALUE_MAX 1e15

/* A list such as "cpu=1,mem=0" while it is read. */
struct resource_list {
    const char *name; /* of the setting */
    struct str text;
    char separator;
    double min, max;
    bool accepts_unknown; /* resources that do not exist */
    double value[USAGE_RESOURCE_COUNT], unknown_sum;
};

static bool is_resource_name(struct str name)
{
    enum { RESOURCE_NAME_BYTES_MAX = 64 };
    for (size_t i = 0; i < name.length; i++) {
        char c = name.text[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(c >= '0' && c <= '9') && memchr("_-./", c, 4) == NULL) return false;
    }
    return name.length > 0 && name.length <= RESOURCE_NAME_BYTES_MAX;
}

/* Whether an item before that of the name, which is a view of the list's text, has the same name. */
static bool is_named_before(const struct resource_list *list, struct str name)
{
    for (struct str rest = list->text; rest.text != NULL;) {
        struct str value, item = str_cut(rest, list->separator, &rest);
        struct str other = str_trim(str_cut(item, '=', &value));
        if (other.text == name.text) return false;
        if (str_equal(other, name)) return true;
    }
    return false;
}

static int refuse_item(const struct resource_list *list, struct str item, struct err *e)
{
    struct buf names = {0};
    if (!list->accepts_unknown) {
        buf_add_text(&names, " with a resource of ");
        usage_resource_add_names(&names);
    }
    int status = err_value(e, list->name, item, "RESOURCE=NUMBER%.*s (or none alone)", (int)names.length, names.text);
    buf_release(&names);
    return status;
}

static int parse_item(struct resource_list *list, struct str item, struct err *e)
{
    struct str number, name = str_trim(str_cut(item, '=', &number));
    enum usage_resource r = usage_resource_find(name);
    bool is_unknown = r == USAGE_RESOURCE_COUNT && list->accepts_unknown && is_resource_name(name);
    double value;
    if (number.text == NULL || (r == USAGE_RESOURCE_COUNT && !is_unknown)) return refuse_item(list, item, e);
    if (!number_parse_double(str_trim(number), &value) || !isfinite(value) || value < list->min || value > list->max)
        return err_value(e, list->name, item, "RESOURCE=NUMBER with a number from %g to %g", list->min, list->max);
    if (is_named_before(list, name)) return err_value_reason(e, list->name, name, "is named twice");
    if (is_unknown)
        list->unknown_sum += value;
    else
        list->value[r] = value;
    return 0;
}

/* Reads the text: each resource at most once, each value finite and from min to max. */
static int parse_by_resource(struct resource_list *list, struct str text, struct err *e)
{
    list->text = text;
    for (struct str rest = text; rest.text != NULL;) {
        if (parse_item(list, str_trim(str_cut(rest, list->separator, &rest)), e) != 0) return -1;
    }
    return 0;
}

int setting_text_usage_weights(struct str text, const char *what, struct usage_weights *out_weights, struct err *e)
{
    struct resource_list list = {.name = what, .separator = ',', .max = RESOURCE_VALUE_MAX, .accepts_unknown = true};
    struct usage_weights weights = {.total = 0.0};
    bool is_none = str_equal_nocase(str_trim(text), str("NONE"));
    if (!is_none && parse_by_resource(&list, text, e) != 0) return -1;
    memcpy(weights.weight, list.value, sizeof weights.weight);
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) weights.total += weights.weight[r];
    weights.total += list.unknown_sum;
    *out_weights = weights;
    return 0;
}

int setting_text_usage_weights_check(struct str text, const char *what, struct err *e)
{
    struct usage_weights unused;
    return setting_text_usage_weights(text, what, &unused, e);
}

int setting_text_halflife_list(struct str text, const char *what, double io_minutes[USAGE_RESOURCE_COUNT],
                               struct err *e)
{
    struct resource_list list = {.name = what, .separator = ':', .min = -1.0, .max = RESOURCE_VALUE_MAX};
    memcpy(list.value, io_minutes, sizeof list.value);
    if (str_equal_nocase(str_trim(text), str("none")))
        list.value[USAGE_FINISHED_JOBS] = -1.0;
    else if (parse_by_resource(&list, text, e) != 0)
        return -1;
    memcpy(io_minutes, list.value, sizeof list.value);
    return 0;
}

int setting_text_halflife_list_check(struct str text, const char *what, struct err *e)
{
    double unused[USAGE_RESOURCE_COUNT] = {0};
    return setting_text_halflife_list(text, what, unused, e);
}

/* --- urgency slots ------------------------------------------------------------------------------------------------ */

int setting_text_urgency_slots(struct str text, const char *what, enum urgency_slots_rule *out_rule,
                               uint32_t *out_number, struct err *e)
{
    static const char *const words[] = {"min", "max", "avg"};
    uint64_t number;
    for (int i = 0; i < 3; i++) {
        if (!str_equal_nocase(text, str(words[i]))) continue;
        *out_rule = (enum urgency_slots_rule)i;
        *out_number = 0;
        return 0;
    }
    if (!number_parse_u64(text, &number) || number < 1 || number > UINT32_MAX)
        return err_value(e, what, text, "min, max, avg or a whole number from 1 to 4294967295");
    *out_rule = URGENCY_SLOTS_NUMBER;
    *out_number = (uint32_t)number;
    return 0;
}

int setting_text_urgency_slots_check(struct str text, const char *what, struct err *e)
{
    enum urgency_slots_rule unused;
    uint32_t unused_number;
    return setting_text_urgency_slots(text, what, &unused, &unused_number, e);
}

/* --- params ------------------------------------------------------------------------------------------------------- */

static int read_param(struct str item, const char *what, struct schedule_params *params, struct err *e)
{
    static const char *const without_effect[] = {"PROFILE", "JC_FILTER", "PE_RANGE_ALG"};
    struct str value, name = str_cut(item, '=', &value);
    uint64_t number;
    if (value.text == NULL) return err_value(e, what, item, "NAME=VALUE, such as MONITOR=1");
    if (str_equal_nocase(name, str("MONITOR"))) {
        bool is_on = str_equal(value, str("1")) || str_equal_nocase(value, str("true"));
        if (!is_on && !str_equal(value, str("0")) && !str_equal_nocase(value, str("false")))
            return err_value(e, what, item, "MONITOR=0 or MONITOR=1");
        params->writes_schedule = is_on;
        return 0;
    }
    if (str_equal_nocase(name, str("DURATION_OFFSET"))) {
        if (!number_parse_u64(value, &number) || number > DURATION_OFFSET_MAX_S)
            return err_value(e, what, item, "DURATION_OFFSET with a number of seconds from 0 to %d",
                             DURATION_OFFSET_MAX_S);
        params->duration_offset_s = (int64_t)number;
        return 0;
    }
    for (size_t i = 0; i < sizeof without_effect / sizeof *without_effect; i++) {
        if (str_equal_nocase(name, str(without_effect[i]))) return 0;
    }
    return err_value(e, what, item, "MONITOR, DURATION_OFFSET, PROFILE, JC_FILTER or PE_RANGE_ALG");
}

int setting_text_params(struct str text, const char *what, struct schedule_params *out_params, struct err *e)
{
    struct schedule_params params = {.duration_offset_s = 60};
    struct str rest = str_trim(text);
    if (rest.length == 0 || str_equal_nocase(rest, str("none"))) rest = (struct str){0};
    while (rest.text != NULL) {
        if (read_param(str_trim(str_cut(rest, ',', &rest)), what, &params, e) != 0) return -1;
    }
    *out_params = params;
    return 0;
}

int setting_text_params_check(struct str text, const char *what, struct err *e)
{
    struct schedule_params unused;
    return setting_text_params(text, what, &unused, e);
}

int setting_text_program_check(struct str text, const char *what, struct err *e)
{
    if (text.length == 0 || (text.length > 1 && text.text[0] == '/')) return 0;
    return err_value(e, what, text, "the absolute path of a program, such as /etc/fairlead/submit-hook, or empty");
}

int setting_text_load_sensor_check(struct str text, const char *what, struct err *e)
{
    struct str rest = str_trim(text);
    if (rest.length == 0 || str_equal_nocase(rest, str("none"))) return 0;
    while (rest.text != NULL) {
        struct str path = str_trim(str_cut(rest, ',', &rest));
        if (path.length < 2 || path.text[0] != '/')
            return err_value(e, what, path, "the absolute path of a program, such as /usr/local/bin/scratch-sensor");
        for (struct str others = rest; others.text != NULL;) {
            if (str_equal(str_trim(str_cut(others, ',', &others)), path))
                return err_value_reason(e, what, path, "is named twice");
        }
    }
    return 0;
}
