/* Any lines as a commit log, with and without their hashes: what is read lies in the text, and is complete only if the
 * commits follow one another. */
#include "base/ensure.h"
#include "base/hash.h"
#include "daemon/commit_log.h"

static void check(struct str text, uint64_t after)
{
    struct commit_log_tail tail;
    commit_log_parse(text, after, &tail);
    ensure(tail.first == after + 1 && (tail.last == 0 || tail.last > after));
    for (uint32_t i = 0; i < tail.tasks.count; i++) {
        struct str task = tail.tasks.items[i];
        ensure(task.text == NULL || (task.text >= text.text && task.text + task.length <= text.text + text.length));
    }
    commit_log_tail_release(&tail);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct buf hashed = {0};
    check(text, 0);
    for (struct str rest = text; rest.length > 0;) {
        struct str line = str_cut(rest, '\n', &rest);
        buf_format(&hashed, "%016llx ", (unsigned long long)hash_bytes(line.text, line.length, 0));
        buf_add_str(&hashed, line);
        buf_add_char(&hashed, '\n');
    }
    check((struct str){hashed.text, hashed.length}, 0);
    check((struct str){hashed.text, hashed.length}, 11);
    buf_release(&hashed);
    return 0;
}
