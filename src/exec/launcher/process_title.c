/* The kernel shows as a command line whatever is in the memory that exec put the arguments into. */
#include "exec/launcher/process_title.h"

#include <string.h>
#include <sys/prctl.h>

static char *title_begin;
static size_t title_room;

void process_title_init(int argc, char **argv)
{
    title_begin = argv[0];
    title_room = 0;
    for (int i = 0; i < argc && argv[i] == title_begin + title_room; i++) title_room += strlen(argv[i]) + 1;
}

void process_title_set(const char *title)
{
    (void)prctl(PR_SET_NAME, title, 0, 0, 0);
    if (title_room == 0) return;
    size_t length = strlen(title);
    if (length > title_room - 1) length = title_room - 1;
    memset(title_begin, 0, title_room);
    memcpy(title_begin, title, length);
}
