/* Trees for tests, written as text:
 *
 *     a:10{a1:2=300 a2:1 s:p{x:3=5}} b:20=7
 *
 * A node is a name, ':' and shares (p: SHARES_PARENT), an optional '=' and own usage, and for an account '{' children
 * '}', which may be empty. Nodes get their indices in this order. */
#ifndef FAIRLEAD_TESTS_TREE_TEXT_H
#define FAIRLEAD_TESTS_TREE_TEXT_H

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "policy/tree.h"

enum { TEXT_NODES_MAX = 64, TEXT_NAME_MAX = 8 };

struct text_tree {
    struct tree tree;
    char name[TEXT_NODES_MAX][TEXT_NAME_MAX];
    double own[TEXT_NODES_MAX];
};

static inline const char *text_tree_add(struct text_tree *t, uint32_t parent, const char *text)
{
    char name[TEXT_NAME_MAX] = "";
    size_t length = strcspn(text, ":");
    ensure(length < TEXT_NAME_MAX && text[length] == ':');
    memcpy(name, text, length);
    text += length + 1;
    char *end;
    uint32_t shares = *text == 'p' ? SHARES_PARENT : (uint32_t)strtoul(text, &end, 10);
    text = *text == 'p' ? text + 1 : end;
    double own = 0;
    if (*text == '=') {
        own = strtod(text + 1, &end);
        text = end;
    }
    uint32_t node = tree_add(&t->tree, parent, *text != '{', shares);
    ensure(node < TEXT_NODES_MAX);
    memcpy(t->name[node], name, sizeof name);
    t->own[node] = own;
    if (*text != '{') return text;
    for (text++; *text != '}';) text = *text == ' ' ? text + 1 : text_tree_add(t, node, text);
    return text + 1;
}

/* Parses the text into a finished tree, which the caller releases with tree_release. */
static inline void text_tree_init(struct text_tree *t, const char *text)
{
    memset(t, 0, sizeof *t);
    tree_init(&t->tree);
    memcpy(t->name[0], "root", 5);
    while (*text != '\0') text = *text == ' ' ? text + 1 : text_tree_add(t, 0, text);
    tree_finish(&t->tree);
}

static inline uint32_t text_tree_find(const struct text_tree *t, const char *name, size_t length)
{
    for (uint32_t i = 0; i < t->tree.count; i++) {
        if (strlen(t->name[i]) == length && memcmp(t->name[i], name, length) == 0) return i;
    }
    ensure(!"no node has this name");
    return NONE;
}

#endif
