#include "daemon/gpu_library.h"

#include <dlfcn.h>

void *gpu_library_load(const char *const *names)
{
    void *library = NULL;
    for (; *names != NULL && library == NULL; names++) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    return library;
}
