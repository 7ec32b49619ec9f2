/* Prints the fields that it reads, "name=value" lines, as a line of the record log, with its hash. */
#include <stdio.h>

#include "exec/launcher/log_text.h"

int main(void)
{
    char fields[4096];
    struct buf line = {0};
    size_t length = fread(fields, 1, sizeof fields, stdin);
    log_text_add(&line, (struct str){fields, length});
    fwrite(line.text, 1, line.length, stdout);
    buf_release(&line);
    return 0;
}
