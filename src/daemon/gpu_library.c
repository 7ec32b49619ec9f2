#include "daemon/gpu_library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/text.h"

int gpu_library_load(const char *const *names, const struct gpu_function *functions, size_t count, void **io_library,
                     char out_fault[GPU_FAULT_SIZE])
{
    const char *first = names[0];
    for (; *names != NULL && *io_library == NULL; names++) *io_library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    if (*io_library == NULL) return 1;
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(*io_library, functions[i].name);
        memcpy(functions[i].function, &address, sizeof address);
        if (address != NULL || functions[i].is_optional) continue;
        text_format(out_fault, GPU_FAULT_SIZE, "%.*s lacks %s: it is too old", (int)strcspn(first, "."), first,
                    functions[i].name);
        return -1;
    }
    return 0;
}
