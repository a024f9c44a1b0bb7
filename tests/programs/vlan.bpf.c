/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vlan.bpf.c - makes an interface a port of VLAN 100 (tests/lab/vlan.py), for kernels without VLAN
 * interfaces: `push` tags what leaves by tc's egress, `pop` removes the tag of what arrives and
 * drops the rest.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define VLAN    100
#define ID_BITS 0x0fff

SEC("push")
int push_tag(struct __sk_buff *skb)
{
    return bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), VLAN) ? TC_ACT_SHOT : TC_ACT_OK;
}

SEC("pop")
int pop_tag(struct __sk_buff *skb)
{
    if (!skb->vlan_present || (skb->vlan_tci & ID_BITS) != VLAN ||
        skb->vlan_proto != bpf_htons(ETH_P_8021Q))
        return TC_ACT_SHOT;
    return bpf_skb_vlan_pop(skb) ? TC_ACT_SHOT : TC_ACT_OK;
}

char vlan_license[] SEC("license") = "Apache-2.0";
