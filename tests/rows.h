/* Recorded tables for tests: a text file as lines of fields. Fields are cut in place and not unescaped. */
#ifndef FAIRLEAD_TESTS_ROWS_H
#define FAIRLEAD_TESTS_ROWS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_FIELDS = 16 };

struct row {
    char *field[ROW_FIELDS]; /* a missing field is "" */
    int count;
};

/* The whole file with a closing zero byte, or NULL. The caller frees it. */
static inline char *rows_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    size_t size = 0, room = 1 << 16, got;
    char *text = malloc(room + 1);
    while ((got = fread(text + size, 1, room - size, file)) > 0) {
        size += got;
        if (size == room) text = realloc(text, (room *= 2) + 1);
    }
    fclose(file);
    text[size] = '\0';
    return text;
}

/* Reads the next line that is not empty and does not begin with '#', and cuts it at separator. False at the end. */
static inline bool rows_next(char **cursor, char separator, struct row *out)
{
    static char nothing[] = "";
    char *line = *cursor;
    while (*line == '\n' || *line == '#') line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
    if (*line == '\0') return false;
    char *end = line + strcspn(line, "\n");
    *cursor = *end == '\n' ? end + 1 : end;
    *end = '\0';
    out->count = 0;
    for (int f = 0; f < ROW_FIELDS; f++) out->field[f] = nothing;
    for (char *field = line; field != NULL && out->count < ROW_FIELDS;) {
        char *cut = strchr(field, separator);
        if (cut != NULL) *cut++ = '\0';
        out->field[out->count++] = field;
        field = cut;
    }
    return true;
}

#endif
