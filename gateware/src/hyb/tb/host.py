# SPDX-License-Identifier: Apache-2.0
"""Host memory with the send buffers of two queue pairs."""

from gateware.src.toe.tb.contract import TOE

QPS = 2
LINE = 64


class Host:
    """Memory of the queue pairs, one byte a function of its address."""

    def __init__(self, dut, rng) -> None:
        self.dut, self.rng, self.area = dut, rng, []
        self.waits: list[int] = []
        self.read: set[int] = set()
        for q in range(QPS):
            base = (q + 1 << 40) + 4096 * rng.randrange(100)
            logs = {"tx_log": rng.randrange(10, 15), "rx_log": rng.randrange(10, 15)}
            values = {"enable": 1, "area": base, "slots_log": 2, "buffers_at": 0x8000} | logs
            self.area.append(values)
        width = TOE.widths["qp_config_t"]
        packed = sum(TOE.pack("qp_config_t", v) << width * q for q, v in enumerate(self.area))
        dut.qp_i.value = packed

    @staticmethod
    def byte(address: int) -> int:
        return (address * 7 + (address >> 8) * 13 + (address >> 40)) & 0xFF

    def line(self, address: int) -> int:
        return int.from_bytes(bytes(self.byte(address + i) for i in range(LINE)), "little")

    def buffer(self, q: int, slot: int) -> tuple[int, int]:
        a = self.area[q]
        stride = (1 << a["tx_log"]) + (1 << a["rx_log"])
        return a["area"] + a["buffers_at"] + slot * stride, 1 << a["tx_log"]
