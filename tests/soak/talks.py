# SPDX-License-Identifier: Apache-2.0
"""The protocols of load.py: each asks a server for one of FILES contents on a kept connection."""

from __future__ import annotations

import contextlib
import ftplib
import functools
import http.client
import imaplib
import io
import itertools
import json
import os
import poplib
import random
import smtplib
import ssl
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.soak.program import ORIGIN

FILES = 64
TIMEOUT = 30
MAIL_LINE = 57  # bytes of content in a line of a message

Opener = Callable[[], contextlib.AbstractContextManager["Talk"]]


class Gone(Exception):
    """The server ended the connection, or refused it, before the first byte of an answer."""


class Wrong(Exception):
    """An answer that is none."""


@functools.cache
def content(folder: Path, number: int) -> bytes:
    return (folder / "files" / str(number)).read_bytes()


def make_files(folder: Path, seed: int) -> None:
    """FILES files of 1 byte to 100 KB."""
    (folder / "files").mkdir()
    for number in range(FILES):
        data = random.Random(seed * FILES + number).randbytes(number**3 * 37 % 100_003 + 1)
        (folder / "files" / str(number)).write_bytes(data)


def difference(folder: Path, number: int, body: bytes) -> str:
    """Where an answer differs, for messages."""
    right = content(folder, number)
    at = next((i for i, (a, b) in enumerate(zip(body, right, strict=False)) if a != b), None)
    where = f"differs at byte {at}" if at is not None else "is a part of it, or has more"
    return f"file {number}, {len(body)} bytes of {len(right)}: {where}"


@contextlib.contextmanager
def _before_an_answer() -> Iterator[None]:
    """Makes the end of a connection Gone."""
    try:
        yield
    except (http.client.RemoteDisconnected, ConnectionError, EOFError) as e:
        raise Gone(f"{type(e).__name__}: {e}") from e
    except ssl.SSLError as e:
        if "EOF" not in str(e):
            raise
        raise Gone(f"{type(e).__name__}: {e}") from e


class Talk:
    """A connection. `over`: the server has announced its end."""

    over = False

    def __init__(self, address: str, port: int, folder: Path):
        self.address, self.port, self.folder = address, port, folder

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def ask(self, number: int) -> bytes | None:
        """The answer to a request for a file; None if ask() has checked it itself."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class Http(Talk):
    def __init__(self, address: str, port: int, folder: Path):
        super().__init__(address, port, folder)
        self.web = self.connection()
        with _before_an_answer():
            self.web.connect()

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.address, self.port, timeout=TIMEOUT)

    def path(self, number: int) -> str:
        return f"/{number}"

    def ask(self, number: int) -> bytes:
        with _before_an_answer():
            self.web.request("GET", self.path(number))
            response = self.web.getresponse()
        body = response.read()
        if response.status != 200:
            raise Wrong(f"status {response.status}: {body[:100]!r}")
        self.over = response.will_close
        return body

    def close(self) -> None:
        self.web.close()


class Https(Http):
    def connection(self) -> http.client.HTTPConnection:
        trusted = ssl.create_default_context(cafile=str(self.folder / "cert.pem"))
        trusted.check_hostname = False
        return http.client.HTTPSConnection(
            self.address, self.port, timeout=TIMEOUT, context=trusted
        )


class Proxy(Http):
    def path(self, number: int) -> str:
        return f"http://{json.loads((self.folder / 'site').read_text())['peer']}:{ORIGIN}/{number}"


class Ftp(Talk):
    """Data connections to the server and from it, in turn."""

    def __init__(self, address: str, port: int, folder: Path):
        super().__init__(address, port, folder)
        self.passive = itertools.cycle((True, False))
        self.ftp = ftplib.FTP(timeout=TIMEOUT)
        with _before_an_answer():
            self.ftp.connect(address, port)
        self.ftp.login()

    def ask(self, number: int) -> bytes:
        body = io.BytesIO()
        self.ftp.set_pasv(next(self.passive))
        with _before_an_answer():
            self.ftp.voidcmd("TYPE I")
        self.ftp.retrbinary(f"RETR {number}", body.write)
        return body.getvalue()

    def close(self) -> None:
        with contextlib.suppress(*ftplib.all_errors):
            self.ftp.quit()
        self.ftp.close()


def as_mail(data: bytes) -> list[str]:
    """The lines of a message's body."""
    return [data[i : i + MAIL_LINE].hex() for i in range(0, len(data), MAIL_LINE)]


def from_mail(message: bytes) -> bytes:
    """The content of a message."""
    return bytes.fromhex(message.replace(b"\r\n", b"\n").split(b"\n\n", 1)[1].decode())


def make_maildir(folder: Path) -> None:
    """A message of each file, in their order."""
    for part in ("cur", "new", "tmp"):
        (folder / "state/mail" / part).mkdir(parents=True)
    for number in range(FILES):
        head = [f"Subject: {number}", "From: soak@example.org", ""]
        text = "\n".join([*head, *as_mail(content(folder, number)), ""])
        (folder / f"state/mail/cur/{1_700_000_000 + number}.M1P1.soak:2,S").write_text(text)


class Imap(Talk):
    def __init__(self, address: str, port: int, folder: Path):
        super().__init__(address, port, folder)
        try:
            with _before_an_answer():
                self.imap = imaplib.IMAP4(address, port, timeout=TIMEOUT)
                self.imap.login("soak", "soak")
                self.imap.select(readonly=True)
        except imaplib.IMAP4.abort as e:
            raise Gone(f"abort: {e}") from e

    def ask(self, number: int) -> bytes:
        try:
            _, found = self.imap.fetch(str(number + 1), "(BODY.PEEK[])")
        except imaplib.IMAP4.abort as e:
            raise Gone(f"abort: {e}") from e
        return from_mail(found[0][1])

    def close(self) -> None:
        with contextlib.suppress(imaplib.IMAP4.error, OSError):
            self.imap.logout()


class Pop3(Talk):
    def __init__(self, address: str, port: int, folder: Path):
        super().__init__(address, port, folder)
        with self._noticing_the_end():
            self.pop = poplib.POP3(address, port + 1, timeout=TIMEOUT)
            self.pop.user("soak")
            self.pop.pass_("soak")

    @staticmethod
    @contextlib.contextmanager
    def _noticing_the_end() -> Iterator[None]:
        try:
            with _before_an_answer():
                yield
        except poplib.error_proto as e:
            if "EOF" not in str(e):
                raise
            raise Gone(f"error_proto: {e}") from e

    def ask(self, number: int) -> bytes:
        with self._noticing_the_end():
            _, lines, _ = self.pop.retr(number + 1)
        return from_mail(b"\n".join(lines))

    def close(self) -> None:
        with contextlib.suppress(poplib.error_proto, OSError):
            self.pop.quit()


class Smtp(Talk):
    """Sends files and writes down what the server has accepted, to be compared with its queue."""

    serial = itertools.count()

    def __init__(self, address: str, port: int, folder: Path):
        super().__init__(address, port, folder)
        self.smtp = smtplib.SMTP(timeout=TIMEOUT, local_hostname="client.example.org")
        try:
            with _before_an_answer():
                self.smtp.connect(address, port)
            self.smtp.ehlo()
        except smtplib.SMTPServerDisconnected as e:
            raise Gone(str(e)) from e

    def ask(self, number: int) -> None:
        serial = f"{os.getpid()}-{next(self.serial)}"
        head = [f"Subject: {serial}", "From: soak@example.org", ""]
        text = "\r\n".join([*head, *as_mail(content(self.folder, number)), ""])
        try:
            self.smtp.sendmail("soak@example.org", "soak@example.org", text)
        except smtplib.SMTPServerDisconnected as e:
            raise Gone(str(e)) from e
        with (self.folder / "accepted").open("a") as accepted:
            accepted.write(f"{serial} {number}\n")

    def close(self) -> None:
        with contextlib.suppress(smtplib.SMTPException, OSError):
            self.smtp.quit()


class Mysql(Talk):
    def __init__(self, address: str, port: int, folder: Path):
        import pymysql

        super().__init__(address, port, folder)
        self.errors = pymysql.err
        try:
            self.sql = pymysql.connect(
                host=address, port=port, user="soak", database="soak", connect_timeout=TIMEOUT,
                read_timeout=TIMEOUT, write_timeout=TIMEOUT,
            )  # fmt: skip
        except pymysql.err.OperationalError as e:
            raise Gone(str(e)) from e

    def ask(self, number: int) -> bytes:
        with self.sql.cursor() as cursor:
            cursor.execute("SELECT body FROM files WHERE number = %s", (number,))
            (body,) = cursor.fetchone()
        return body

    def close(self) -> None:
        self.sql.close()


class Amqp(Talk):
    """Each file is published, confirmed, and fetched again."""

    def __init__(self, address: str, port: int, folder: Path):
        import pika

        super().__init__(address, port, folder)
        self.errors = pika.exceptions
        try:
            self.link = pika.BlockingConnection(
                pika.ConnectionParameters(
                    address, port, socket_timeout=TIMEOUT, blocked_connection_timeout=TIMEOUT,
                    stack_timeout=TIMEOUT,
                )
            )  # fmt: skip
            self.channel = self.link.channel()
            self.queue = self.channel.queue_declare("", exclusive=True).method.queue
            self.channel.confirm_delivery()
        except pika.exceptions.AMQPConnectionError as e:
            raise Gone(repr(e)) from e

    def ask(self, number: int) -> bytes:
        try:
            self.channel.basic_publish("", self.queue, content(self.folder, number))
            _, _, body = self.channel.basic_get(self.queue, auto_ack=True)
        except self.errors.AMQPConnectionError as e:
            raise Gone(repr(e)) from e
        if body is None:
            raise Wrong("the queue has not the message that it confirmed")
        return body

    def close(self) -> None:
        with contextlib.suppress(self.errors.AMQPError):
            self.link.close()


class Mqtt(Talk):
    """Each file is published with QoS 1 to a topic that the same client has subscribed to."""

    def __init__(self, address: str, port: int, folder: Path):
        from paho.mqtt import client

        super().__init__(address, port, folder)
        self.topic = f"soak/{uuid.uuid4()}"
        self.messages: list[bytes] = []
        self.subscribed = self.ended = False
        self.mqtt = client.Client()
        self.mqtt.on_connect = lambda *_: self.mqtt.subscribe(self.topic, qos=1)
        self.mqtt.on_subscribe = lambda *_: setattr(self, "subscribed", True)
        self.mqtt.on_message = lambda _c, _u, message: self.messages.append(message.payload)
        with _before_an_answer():
            self.mqtt.connect(address, port)
        self._until(lambda: self.subscribed, "SUBACK")

    def _until(self, condition: Callable[[], object], what: str) -> None:
        for _ in range(TIMEOUT * 10):
            if condition():
                return
            if self.mqtt.loop(0.1) != 0:
                raise Gone(f"the connection ended before {what}")
        raise TimeoutError(f"no {what} in {TIMEOUT} s")

    def ask(self, number: int) -> bytes:
        sent = self.mqtt.publish(self.topic, content(self.folder, number), qos=1)
        self._until(lambda: self.messages and sent.is_published(), "PUBACK and PUBLISH")
        return self.messages.pop(0)

    def close(self) -> None:
        self.mqtt.disconnect()


class Rpc(Talk):
    """Transmission's: the number comes back as the tag, with what is known of the torrent."""

    def __init__(self, address: str, port: int, folder: Path):
        super().__init__(address, port, folder)
        self.web = http.client.HTTPConnection(address, port, timeout=TIMEOUT)
        self.session = ""
        with _before_an_answer():
            self.web.connect()

    def _post(self, body: str) -> http.client.HTTPResponse:
        headers = {"X-Transmission-Session-Id": self.session}
        with _before_an_answer():
            self.web.request("POST", "/transmission/rpc", body, headers)
            return self.web.getresponse()

    def ask(self, number: int) -> None:
        fields = {"fields": ["name", "files", "pieces"]}
        body = json.dumps({"method": "torrent-get", "tag": number, "arguments": fields})
        response = self._post(body)
        if response.status == 409:
            response.read()
            self.session = response.headers["X-Transmission-Session-Id"]
            response = self._post(body)
        answer = json.loads(response.read())
        if answer["tag"] != number:
            raise Wrong(f"tag {answer['tag']} answers {number}")
        (torrent,) = answer["arguments"]["torrents"]
        sizes = sorted(file["length"] for file in torrent["files"])
        if sizes != sorted(len(content(self.folder, n)) for n in range(FILES)):
            raise Wrong(f"the torrent has files of {sizes} bytes")

    def close(self) -> None:
        self.web.close()


PROTOCOLS: dict[str, type[Talk]] = {
    "http": Http, "https": Https, "proxy": Proxy, "ftp": Ftp, "imap": Imap, "pop3": Pop3,
    "smtp": Smtp, "mysql": Mysql, "amqp": Amqp, "mqtt": Mqtt, "rpc": Rpc,
}  # fmt: skip


def opener(protocol: str, address: str, port: int, folder: Path) -> Opener:
    return lambda: PROTOCOLS[protocol](address, port, folder)
