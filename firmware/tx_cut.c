/* SPDX-License-Identifier: Apache-2.0 */
/* tx_cut.c - cuts a burst to which core/ has given headers (tx.h). */
#include "tx.h"

uint32_t tx_cut(const struct toec_tx *tx)
{
    uint8_t hdr[TX_HEADER_MOST];
    struct toec_tx one = *tx;
    uint32_t at, sent = TX_FULL;

    one.hdr = hdr;
    one.gso_size = 0;
    for (at = 0; at < tx->len; at += one.len) {
        one.off = tx->off + at;
        one.len = tx->len - at < tx->gso_size ? tx->len - at : tx->gso_size;
        toec_tx_cut(tx, at, one.len, hdr);
        do
            sent = tx_one(&one);
        while (sent == TX_FULL && at);
        if (sent == TX_FULL || sent == TX_REFUSED)
            break;
    }
    return sent;
}
