/* Configuration files of arbitrary bytes. A file that is accepted has only known settings and valid values. The error
 * of a refused file has a position. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/ensure.h"
#include "daemon/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config c = {0};
    struct err e = {0};
    if (config_parse("f", (struct str){(const char *)data, size}, &c, &e) != 0) {
        ensure(e.code == ERR_INPUT && strncmp(ERR_SENTENCE(&e), "f:", 2) == 0 && c.lines.count == 0);
        return 0;
    }
    struct arena arena = {0};
    for (uint32_t i = 0; i < c.lines.count; i++) {
        enum setting setting;
        struct field_value value;
        ensure(setting_read(c.lines.items[i].name, c.lines.items[i].value, &arena, &setting, &value, &e) == 0);
        ensure(setting == c.lines.items[i].setting);
    }
    arena_release(&arena);
    array_release(&c.lines);
    return 0;
}
