/* The kernel shows as a process's command line whatever is in the memory into which exec put the arguments. */
#include "exec/launcher/process_title.h"

#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

#include "exec/launcher/durable.h"

static char *title_memory;
static size_t title_size; /* of all arguments that lie one after the other, with their closing zeros */

void process_title_init(int argc, char **argv)
{
    title_memory = argv[0];
    title_size = 0;
    for (int i = 0; i < argc && argv[i] == title_memory + title_size; i++) title_size += strlen(argv[i]) + 1;
}

void process_title_set(const char *title)
{
    (void)prctl(PR_SET_NAME, title, 0, 0, 0);
    if (title_size == 0) return;
    size_t length = strlen(title);
    if (length > title_size - 1) length = title_size - 1;
    memset(title_memory, 0, title_size);
    memcpy(title_memory, title, length);
}

bool process_title_is(pid_t pid, const char *name)
{
    char path[32];
    struct buf text = {0};
    text_format(path, sizeof path, "/proc/%d/comm", (int)pid);
    bool is_named = pid > 0 && str_equal(str_trim(durable_read_text(path, &text)), str(name));
    buf_release(&text);
    return is_named;
}
