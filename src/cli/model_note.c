#include "cli/model_note.h"

#include <string.h>

#include "cli/instance.h"
#include "policy/policy.h"

#define BIT(model) (1u << (model))

/* The models that read a field; the models of other fields are all. */
static const uint32_t models_of[JOB_FIELD_COUNT] = {
    [JOB_FIELD_SET_PRIORITY] = BIT(MODEL_MULTIFACTOR) | BIT(MODEL_BASIC),
    [JOB_FIELD_NICE] = BIT(MODEL_MULTIFACTOR) | BIT(MODEL_BASIC),
    [JOB_FIELD_SITE] = BIT(MODEL_MULTIFACTOR),
    [JOB_FIELD_DEADLINE] = BIT(MODEL_TICKETS),
    [JOB_FIELD_POSIX_PRIORITY] = BIT(MODEL_TICKETS),
    [JOB_FIELD_JOB_SHARE] = BIT(MODEL_TICKETS),
    [JOB_FIELD_OVERRIDE_TICKETS] = BIT(MODEL_TICKETS),
};

/* 0, none and auto ask for nothing that could be missed. */
static bool is_of_models(const struct job_values *given, enum job_field f)
{
    int64_t number = given->value[f].number;
    return given->is_given[f] && models_of[f] != 0 && number != 0 && number != FIELD_SPECIAL;
}

static void print_note(const char *command, enum job_field f, const char *model)
{
    struct buf models = {0};
    for (uint32_t m = 0; m < MODEL_COUNT; m++) {
        if ((models_of[f] & BIT(m)) == 0) continue;
        buf_format(&models, "%s%s", models.length > 0 ? " or " : "", priority_model_names[m]);
    }
    output_note("fairlead %s: --%s has no effect now: PriorityType is %s, and only %s reads it", command,
                job_field_rows[f].option, model, models.text);
    buf_release(&models);
}

void model_note_print(struct call *call, const struct job_values *given)
{
    struct api_status status = {0};
    struct err ignored;
    uint32_t count = 0;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) count += is_of_models(given, f);
    if (count == 0 ||
        instance_request_once(call, "GET", API_STATUS, NULL, NULL, &api_status_shape, &status, &ignored) != 0)
        return;
    for (uint32_t m = 0; m < MODEL_COUNT; m++) {
        if (strcmp(priority_model_names[m], status.model) != 0) continue;
        for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
            if (is_of_models(given, f) && (models_of[f] & BIT(m)) == 0)
                print_note(call->command->name, f, status.model);
        }
    }
}
