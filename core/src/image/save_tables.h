/* SPDX-License-Identifier: Apache-2.0 */
/* save_tables.h - the members of each structure in an image, and their tags (save.h). */
#ifndef TOEC_SAVE_TABLES_H
#define TOEC_SAVE_TABLES_H

#include "save.h"

extern const struct toec_table toec_t_stack, toec_t_own6, toec_t_prefix6, toec_t_router6,
    toec_t_redirect6, toec_t_neigh, toec_t_pmtu, toec_t_listener, toec_t_flow, toec_t_cwv,
    toec_t_newreno, toec_t_cubic, toec_t_dctcp, toec_t_bbr, toec_t_bbr1, toec_t_rate, toec_t_pace,
    toec_t_episode, toec_t_run, toec_t_gap, toec_t_peer, toec_t_waiting, toec_t_tw, toec_t_ao,
    toec_t_ao_key;

#endif
