/* Reads recorded tables: a text file with lines of fields. Fields are split in place; escapes are not interpreted. */
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

/* The whole file, ended by a zero byte, which the caller frees; NULL when it cannot be read. */
static inline char *rows_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    size_t size = 0, capacity = 1 << 16, length;
    char *text = malloc(capacity + 1);
    while ((length = fread(text + size, 1, capacity - size, file)) > 0) {
        size += length;
        if (size == capacity) text = realloc(text, (capacity *= 2) + 1);
    }
    fclose(file);
    text[size] = '\0';
    return text;
}

/* Splits the next line that is not empty and does not begin with '#' at the separator. False at the end. */
static inline bool rows_next(char **cursor, char separator, struct row *out)
{
    static char empty[] = "";
    char *line = *cursor;
    while (*line == '\n' || *line == '#') line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
    if (*line == '\0') return false;
    char *end = line + strcspn(line, "\n");
    *cursor = *end == '\n' ? end + 1 : end;
    *end = '\0';
    out->count = 0;
    for (int f = 0; f < ROW_FIELDS; f++) out->field[f] = empty;
    for (char *field = line; field != NULL && out->count < ROW_FIELDS;) {
        char *rest = strchr(field, separator);
        if (rest != NULL) *rest++ = '\0';
        out->field[out->count++] = field;
        field = rest;
    }
    return true;
}

#endif
