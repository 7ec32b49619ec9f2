/* Any bytes as a segment of the record log: what is read lies in the text, a line behind them is read whatever they
 * are, and with their hashes all lines are read. */
#include <string.h>

#include "base/ensure.h"
#include "exec/launcher/log_text.h"
#include "exec/launcher/process_identity.h"
#include "exec/record.h"

/* Reads all lines, from memory of exactly this size. Returns their number; *out_last: the length of the last one. */
static uint32_t read_all(struct str text, size_t *out_last)
{
    char *copy = mem_resize(NULL, 0, text.length + 1), *rest = copy;
    size_t left = text.length;
    uint32_t count = 0;
    if (text.length > 0) memcpy(copy, text.text, text.length);
    for (struct str fields; (fields = log_text_next(&rest, &left)).text != NULL; count++) {
        struct launch_record record;
        struct process_identity identity;
        ensure(fields.text >= copy && fields.text + fields.length <= copy + text.length);
        ensure(fields.length > 0 && fields.text[fields.length - 1] == '\n');
        if (record_parse(fields, &record, NULL) == 0) ensure(record.id > 0);
        process_identity_parse(fields, &identity);
        *out_last = fields.length;
    }
    ensure(left == 0 || memchr(rest, '\n', left) == NULL);
    mem_free(copy);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char line[] = "acknowledged=5\n";
    const struct str text = {(const char *)data, size};
    struct buf log = {0};
    size_t last = 0;
    uint32_t count = read_all(text, &last);
    buf_add_str(&log, text);
    log_text_add(&log, str(line));
    ensure(read_all((struct str){log.text, log.length}, &last) >= count + 1 && last == strlen(line));
    buf_clear(&log);
    count = 0;
    for (struct str rest = text; rest.length > 0;) {
        struct str fields = str_cut(rest, '\n', &rest);
        if (fields.length == 0 || rest.text == NULL) continue;
        log_text_add(&log, (struct str){fields.text, fields.length + 1});
        count++;
    }
    ensure(read_all((struct str){log.text, log.length}, &last) == count);
    buf_release(&log);
    return 0;
}
