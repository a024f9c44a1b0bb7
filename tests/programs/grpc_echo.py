# SPDX-License-Identifier: Apache-2.0
"""A gRPC service of bytes and its client: `grpc_echo.py serve ADDRESS`, `... client ADDRESS`.

The methods: One (the request reversed), Many (the request N times), Both (echoes each message).
The client makes calls of all three, several at a time, and prints their number as JSON.
"""

import hashlib
import json
import random
import sys
from concurrent import futures

import grpc

LIMIT = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]


class Service(grpc.GenericRpcHandler):
    def service(self, call):
        kind = call.method.rsplit("/", 1)[1]
        if kind == "One":
            return grpc.unary_unary_rpc_method_handler(lambda data, _: data[::-1])
        if kind == "Many":
            return grpc.unary_stream_rpc_method_handler(lambda data, _: iter([data] * 50))
        return grpc.stream_stream_rpc_method_handler(lambda messages, _: messages)


def serve(address):
    server = grpc.server(futures.ThreadPoolExecutor(8), options=LIMIT)
    server.add_generic_rpc_handlers([Service()])
    assert server.add_insecure_port(address), address
    server.start()
    print("ready", flush=True)
    server.wait_for_termination()


def client(address):
    rng = random.Random(1)
    with grpc.insecure_channel(address, options=LIMIT) as channel:
        one = channel.unary_unary("/toehold.Echo/One")
        many = channel.unary_stream("/toehold.Echo/Many")
        both = channel.stream_stream("/toehold.Echo/Both")
        sent = [rng.randbytes(rng.randrange(20_000)) for _ in range(200)] + [rng.randbytes(4 << 20)]
        for data, answer in zip(sent, [one.future(data, timeout=60) for data in sent], strict=True):
            assert answer.result() == data[::-1]
        assert list(many(sent[0], timeout=60)) == [sent[0]] * 50
        assert [hashlib.sha256(m).digest() for m in both(iter(sent), timeout=60)] == [
            hashlib.sha256(m).digest() for m in sent
        ]
    print(json.dumps({"calls": len(sent) + 2}))


if __name__ == "__main__":
    {"serve": serve, "client": client}[sys.argv[1]](sys.argv[2])
