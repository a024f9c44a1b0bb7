# SPDX-License-Identifier: Apache-2.0
"""asyncio echo: `serve ADDRESS PORT`, or `client ADDRESS PORT CONNECTIONS ROUNDS BYTES`."""

import asyncio
import json
import random
import sys


async def echo(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()


async def serve(address, port):
    server = await asyncio.start_server(echo, address, int(port), backlog=1000)
    print("ready", flush=True)
    async with server:
        await server.serve_forever()


async def talk(address, port, rounds, size, seed):
    rng = random.Random(seed)
    reader, writer = await asyncio.open_connection(address, port)
    for _ in range(rounds):
        data = rng.randbytes(rng.randrange(1, size + 1))
        writer.write(data)
        got, _ = await asyncio.gather(reader.readexactly(len(data)), writer.drain())
        if got != data:
            raise SystemExit("the echo differs")
    writer.write_eof()
    if await reader.read() != b"":
        raise SystemExit("received more than was sent")
    writer.close()
    await writer.wait_closed()


async def client(address, port, connections, rounds, size):
    talks = [
        talk(address, int(port), int(rounds), int(size), seed) for seed in range(int(connections))
    ]
    await asyncio.gather(*talks)
    print(json.dumps({"connections": len(talks)}))


asyncio.run({"serve": serve, "client": client}[sys.argv[1]](*sys.argv[2:]))
