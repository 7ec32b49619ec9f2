#include "cli/tres_show.h"

#include "base/number.h"
#include "base/quantity.h"

void tres_show(const char *text, struct buf *out)
{
    char memory[32];
    const char *separator = "";
    for (struct str rest = str(text); rest.length > 0; separator = ",") {
        struct str item = str_cut(rest, ',', &rest), amount, name = str_cut(item, '=', &amount);
        uint64_t mib;
        buf_add_text(out, separator);
        if (!str_equal(name, str("mem")) || !number_parse_u64(amount, &mib) || mib == 0) {
            buf_add_str(out, item);
            continue;
        }
        buf_add_text(out, "mem=");
        buf_add(out, memory, memory_format(memory, mib));
    }
}
