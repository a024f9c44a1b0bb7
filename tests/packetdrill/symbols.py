# SPDX-License-Identifier: Apache-2.0
"""Names of constants: from Python's modules, and those missing there (Linux's uapi)."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
import socket
import termios

from tests.packetdrill.errors import ScriptError
from tests.packetdrill.script import Binary, Word

MODULES = (socket, errno, select, os, fcntl, termios, signal)

EXTRA = {
    "NULL": 0,
    "AF_UNSPEC": 0,
    "SOL_TCP": 6,
    "SOL_UDP": 17,
    "SOL_IP": 0,
    "SOL_IPV6": 41,
    "SOL_SOCKET": 1,
    "IPPROTO_MPTCP": 262,
    # socket options
    "SO_DEBUG": 1,
    "SO_REUSEADDR": 2,
    "SO_TYPE": 3,
    "SO_ERROR": 4,
    "SO_DONTROUTE": 5,
    "SO_BROADCAST": 6,
    "SO_SNDBUF": 7,
    "SO_RCVBUF": 8,
    "SO_KEEPALIVE": 9,
    "SO_OOBINLINE": 10,
    "SO_NO_CHECK": 11,
    "SO_PRIORITY": 12,
    "SO_LINGER": 13,
    "SO_REUSEPORT": 15,
    "SO_RCVLOWAT": 18,
    "SO_SNDLOWAT": 19,
    "SO_RCVTIMEO": 20,
    "SO_SNDTIMEO": 21,
    "SO_TIMESTAMP": 29,
    "SO_ACCEPTCONN": 30,
    "SO_SNDBUFFORCE": 32,
    "SO_RCVBUFFORCE": 33,
    "SO_TIMESTAMPNS": 35,
    "SO_MARK": 36,
    "SO_TIMESTAMPING": 37,
    "SCM_TIMESTAMPING": 37,
    "SO_PEEK_OFF": 42,
    "SO_BUSY_POLL": 46,
    "SO_MAX_PACING_RATE": 47,
    "SO_INCOMING_CPU": 49,
    "SCM_TIMESTAMPING_OPT_STATS": 54,
    "SO_MEMINFO": 55,
    "SO_INCOMING_NAPI_ID": 56,
    "SO_ZEROCOPY": 60,
    "SO_TXTIME": 61,
    # TCP options
    "TCP_NODELAY": 1,
    "TCP_MAXSEG": 2,
    "TCP_CORK": 3,
    "TCP_KEEPIDLE": 4,
    "TCP_KEEPINTVL": 5,
    "TCP_KEEPCNT": 6,
    "TCP_SYNCNT": 7,
    "TCP_LINGER2": 8,
    "TCP_DEFER_ACCEPT": 9,
    "TCP_WINDOW_CLAMP": 10,
    "TCP_INFO": 11,
    "TCP_QUICKACK": 12,
    "TCP_CONGESTION": 13,
    "TCP_MD5SIG": 14,
    "TCP_THIN_LINEAR_TIMEOUTS": 16,
    "TCP_THIN_DUPACK": 17,
    "TCP_USER_TIMEOUT": 18,
    "TCP_REPAIR": 19,
    "TCP_REPAIR_QUEUE": 20,
    "TCP_QUEUE_SEQ": 21,
    "TCP_REPAIR_OPTIONS": 22,
    "TCP_FASTOPEN": 23,
    "TCP_TIMESTAMP": 24,
    "TCP_NOTSENT_LOWAT": 25,
    "TCP_CC_INFO": 26,
    "TCP_SAVE_SYN": 27,
    "TCP_SAVED_SYN": 28,
    "TCP_REPAIR_WINDOW": 29,
    "TCP_FASTOPEN_CONNECT": 30,
    "TCP_ULP": 31,
    "TCP_MD5SIG_EXT": 32,
    "TCP_FASTOPEN_KEY": 33,
    "TCP_FASTOPEN_NO_COOKIE": 34,
    "TCP_ZEROCOPY_RECEIVE": 35,
    "TCP_INQ": 36,
    "TCP_CM_INQ": 36,
    "TCP_TX_DELAY": 37,
    "TCP_AO_ADD_KEY": 38,
    "TCP_AO_DEL_KEY": 39,
    "TCP_AO_INFO": 40,
    "TCP_AO_GET_KEYS": 41,
    "TCP_AO_REPAIR": 42,
    # IP options
    "IP_TOS": 1,
    "IP_TTL": 2,
    "IP_RECVERR": 11,
    "IP_MTU_DISCOVER": 10,
    "IP_MTU": 14,
    "IP_FREEBIND": 15,
    "IP_PMTUDISC_DONT": 0,
    "IP_PMTUDISC_WANT": 1,
    "IP_PMTUDISC_DO": 2,
    "IP_PMTUDISC_PROBE": 3,
    "IP_BIND_ADDRESS_NO_PORT": 24,
    "IPV6_MTU_DISCOVER": 23,
    "IPV6_MTU": 24,
    "IPV6_RECVERR": 25,
    "IPV6_V6ONLY": 26,
    "IPV6_FLOWINFO_SEND": 33,
    "IPV6_TCLASS": 67,
    "IPV6_AUTOFLOWLABEL": 70,
    # flags
    "MSG_PROBE": 0x10,
    "MSG_ERRQUEUE": 0x2000,
    "MSG_NOSIGNAL": 0x4000,
    "MSG_MORE": 0x8000,
    "MSG_WAITFORONE": 0x10000,
    "MSG_ZEROCOPY": 0x4000000,
    "MSG_FASTOPEN": 0x20000000,
    "MSG_CMSG_CLOEXEC": 0x40000000,
    "SPLICE_F_MOVE": 1,
    "SPLICE_F_NONBLOCK": 2,
    "SPLICE_F_MORE": 4,
    "SIOCINQ": 0x541B,
    "FIONREAD": 0x541B,
    "SIOCOUTQ": 0x5411,
    "SIOCOUTQNSD": 0x894B,
    "SIOCATMARK": 0x8905,
    "EPOLL_CTL_ADD": 1,
    "EPOLL_CTL_DEL": 2,
    "EPOLL_CTL_MOD": 3,
    "EPOLLIN": 0x001,
    "EPOLLPRI": 0x002,
    "EPOLLOUT": 0x004,
    "EPOLLERR": 0x008,
    "EPOLLHUP": 0x010,
    "EPOLLRDNORM": 0x040,
    "EPOLLRDBAND": 0x080,
    "EPOLLWRNORM": 0x100,
    "EPOLLWRBAND": 0x200,
    "EPOLLMSG": 0x400,
    "EPOLLRDHUP": 0x2000,
    "EPOLLEXCLUSIVE": 1 << 28,
    "EPOLLWAKEUP": 1 << 29,
    "EPOLLONESHOT": 1 << 30,
    "EPOLLET": 1 << 31,
    "POLLRDHUP": 0x2000,
    # sock_extended_err
    "SO_EE_ORIGIN_NONE": 0,
    "SO_EE_ORIGIN_LOCAL": 1,
    "SO_EE_ORIGIN_ICMP": 2,
    "SO_EE_ORIGIN_ICMP6": 3,
    "SO_EE_ORIGIN_TXSTATUS": 4,
    "SO_EE_ORIGIN_ZEROCOPY": 5,
    "SO_EE_CODE_ZEROCOPY_COPIED": 1,
    "SCM_TSTAMP_SND": 0,
    "SCM_TSTAMP_SCHED": 1,
    "SCM_TSTAMP_ACK": 2,
    "SOF_TIMESTAMPING_TX_HARDWARE": 1,
    "SOF_TIMESTAMPING_TX_SOFTWARE": 2,
    "SOF_TIMESTAMPING_RX_HARDWARE": 4,
    "SOF_TIMESTAMPING_RX_SOFTWARE": 8,
    "SOF_TIMESTAMPING_SOFTWARE": 16,
    "SOF_TIMESTAMPING_OPT_ID": 128,
    "SOF_TIMESTAMPING_TX_SCHED": 256,
    "SOF_TIMESTAMPING_TX_ACK": 512,
    "SOF_TIMESTAMPING_OPT_CMSG": 1024,
    "SOF_TIMESTAMPING_OPT_TSONLY": 2048,
    "SOF_TIMESTAMPING_OPT_STATS": 4096,
}

# For code: values of tcpi_state, tcpi_ca_state and tcpi_options.
CODE = {
    "TCP_ESTABLISHED": 1,
    "TCP_SYN_SENT": 2,
    "TCP_SYN_RECV": 3,
    "TCP_FIN_WAIT1": 4,
    "TCP_FIN_WAIT2": 5,
    "TCP_TIME_WAIT": 6,
    "TCP_CLOSE": 7,
    "TCP_CLOSE_WAIT": 8,
    "TCP_LAST_ACK": 9,
    "TCP_LISTEN": 10,
    "TCP_CLOSING": 11,
    "TCP_CA_Open": 0,
    "TCP_CA_Disorder": 1,
    "TCP_CA_CWR": 2,
    "TCP_CA_Recovery": 3,
    "TCP_CA_Loss": 4,
    "TCPI_OPT_TIMESTAMPS": 1,
    "TCPI_OPT_SACK": 2,
    "TCPI_OPT_WSCALE": 4,
    "TCPI_OPT_ECN": 8,
    "TCPI_OPT_ECN_SEEN": 16,
    "TCPI_OPT_SYN_DATA": 32,
}


def symbol(name: str) -> int:
    if name in EXTRA:
        return EXTRA[name]
    for module in MODULES:
        value = getattr(module, name, None)
        if isinstance(value, int):
            return int(value)
    raise ScriptError(f"unknown symbol: '{name}'")


def evaluate(e: object) -> object:
    """Converts names to numbers, also within lists; other values stay unchanged."""
    match e:
        case Word(name=name):
            return symbol(name)
        case Binary(op="|", left=left, right=right):
            a, b = evaluate(left), evaluate(right)
            if not isinstance(a, int) or not isinstance(b, int):
                raise ScriptError("| is for numbers")
            return a | b
        case list():
            return [evaluate(item) for item in e]
    return e


def integer(e: object, what: str = "a number") -> int:
    value = evaluate(e)
    if not isinstance(value, int):
        raise ScriptError(f"expected {what}")
    return value
