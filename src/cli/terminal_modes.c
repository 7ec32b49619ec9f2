#include "cli/terminal_modes.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static bool is_raw;

void terminal_modes_set_raw(void)
{
    struct termios raw;
    if (is_raw || tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &before) != 0) return;
    raw = before;
    cfmakeraw(&raw);
    is_raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

void terminal_modes_restore(void)
{
    if (is_raw) (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    is_raw = false;
}

bool terminal_modes_size(uint16_t *out_rows, uint16_t *out_columns)
{
    struct winsize size;
    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return false;
    *out_rows = size.ws_row;
    *out_columns = size.ws_col;
    return true;
}
