#include "cli/job_environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const basics[] = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG"};

/* "NAME=value" of a variable that is set, else no text. */
static struct str find_set(struct str name)
{
    for (char **entry = environ; entry && *entry; entry++) {
        if (strncmp(*entry, name.text, name.length) == 0 && (*entry)[name.length] == '=') return str(*entry);
    }
    return (struct str){NULL, 0};
}

/* Replaces the entry of the same name, or appends the entry. */
static void put(environment_list *entries, struct str entry)
{
    struct str rest, name = str_cut(entry, '=', &rest);
    for (uint32_t i = 0; i < entries->count; i++) {
        struct str old = str_cut(entries->items[i], '=', &rest);
        if (str_equal(old, name)) {
            entries->items[i] = entry;
            return;
        }
    }
    *array_add(entries) = entry;
}

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.text[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return name.length > 0;
}

static void add_all(environment_list *entries)
{
    for (char **entry = environ; entry && *entry; entry++) {
        if (strchr(*entry, '=')) *array_add(entries) = str(*entry);
    }
}

static void add_basics(environment_list *entries)
{
    for (size_t i = 0; i < sizeof basics / sizeof basics[0]; i++) {
        struct str entry = find_set(str(basics[i]));
        if (entry.text) put(entries, entry);
    }
}

/* One word of a list: "A" or "B=x". */
static int add_word(struct str word, struct arena *a, environment_list *entries, struct err *e)
{
    struct str value, name = str_cut(word, '=', &value);
    int shown = (int)(word.length < 60 ? word.length : 60);
    if (str_equal_nocase(word, str("NONE"))) return err_set(e, ERR_INPUT, "--export: NONE is accepted only alone");
    if (!is_name(name))
        return err_set(e, ERR_INPUT, "--export: '%.*s' does not begin with the name of a variable", shown, word.text);
    struct str entry = value.text ? (struct str){arena_copy(a, word), word.length} : find_set(name);
    if (entry.text == NULL) return err_set(e, ERR_INPUT, "--export: the variable '%.*s' is not set", shown, word.text);
    put(entries, entry);
    return 0;
}

int job_environment_collect(const char *spec, struct arena *a, environment_list *out_entries, struct err *e)
{
    environment_list entries = {0};
    struct str list = str(spec ? spec : "ALL");
    bool has_all = false;
    for (struct str rest = list; rest.text != NULL;) has_all |= str_equal_nocase(str_cut(rest, ',', &rest), str("ALL"));
    if (has_all) {
        add_all(&entries);
    } else {
        add_basics(&entries);
    }
    int status = 0;
    if (!str_equal_nocase(list, str("NONE"))) {
        for (struct str rest = list; status == 0 && rest.text != NULL;) {
            struct str word = str_cut(rest, ',', &rest);
            if (!str_equal_nocase(word, str("ALL"))) status = add_word(word, a, &entries, e);
        }
    }
    if (status != 0) {
        array_release(&entries);
        return -1;
    }
    *out_entries = entries;
    return 0;
}
