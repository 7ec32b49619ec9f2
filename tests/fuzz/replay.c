/* main() of a fuzz target in builds without a fuzzer: runs the target once with every file of its corpus, in the order
 * of their names, and prints a case for each (Test Anything Protocol). An empty corpus is a failure. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Runs the target with a file, in memory of exactly its size, so that the address sanitizer sees a read past its
 * end. */
static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return -1;

    uint8_t *data = NULL;
    long size = -1;
    if (fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) data = malloc((size_t)size);
    int status = size >= 0 && fread(data, 1, (size_t)size, file) == (size_t)size ? 0 : -1;
    fclose(file);

    if (status == 0) LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
        return 2;
    }

    struct dirent **entries;
    int count = scandir(argv[1], &entries, is_input, alphasort);
    if (count <= 0) {
        printf("1..1\nnot ok 1 - %s: %s\n", argv[1], count < 0 ? strerror(errno) : "the corpus is empty");
        return 1;
    }

    int failed = 0;
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
        printf("# %s\n", path);
        fflush(stdout); /* so that the name of the input is printed if the target crashes */
        int status = replay(path);
        if (status != 0) failed = 1;
        printf("%s %d - %s\n", status == 0 ? "ok" : "not ok", i + 1, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return failed;
}
