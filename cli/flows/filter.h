/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - which flows to show, in the words of ss(8).
 *
 *     [state STATE] [EXPRESSION]
 *     STATE        established, listen, syn-sent, ... or all, connected, synchronized
 *     EXPRESSION   sport|dport OP PORT | src|dst ADDRESS[/LEN][:PORT] | pid = N | state = STATE |
 *                  not E | E and E | E or E | ( E ); "and" may be left out
 *     OP           = == eq != ne < lt > gt <= le >= ge; may be left out for =
 *     PORT         80 or :80
 */
#ifndef TOE_CLI_FILTER_H
#define TOE_CLI_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct filter;

/* Parses the words. NULL: they are wrong, with the reason in `why`. No words match everything. */
struct filter *filter_parse(char *const *words, size_t n, char *why, size_t why_size);
/* Returns whether an entry of toed's answer matches. */
bool filter_match(const struct filter *f, const json_t *entry);
void filter_free(struct filter *f);

#endif
