#include "cli/setting_remarks.h"

#include "cli/output.h"

static void note_remark(enum setting setting, const struct field_value *value)
{
    struct buf remark = {0};
    setting_remark(setting, value, &remark);
    if (remark.length > 0) output_note("%s", remark.text);
    buf_release(&remark);
}

void setting_remarks_of_pair(struct str pair)
{
    struct arena arena = {0};
    struct field_value value;
    enum setting setting;
    struct str text, name = str_cut(pair, '=', &text);
    if (setting_read(name, text, &arena, &setting, &value, NULL) == 0) note_remark(setting, &value);
    arena_release(&arena);
}

void setting_remarks_of_all(const struct settings *settings)
{
    for (enum setting s = 0; s < SETTING_COUNT; s++) {
        if (!settings_table[s].remark_is_of_instance) note_remark(s, &settings->value[s]);
    }
}
