# SPDX-License-Identifier: Apache-2.0
"""The programs of the soak: one row each."""

from __future__ import annotations

import signal

from tests.soak import prepare
from tests.soak.program import RESTART, Program, Reload

_APACHE = "apache2 -f @folder@/apache.conf -DFOREGROUND"
_GRACEFUL = Reload(signal.SIGUSR1, says="resuming normal operations", replaces=True)
# Node closes connections without a request when a worker disconnects, new ones too.
_CLUSTER = Reload(signal.SIGHUP, replaces=True, gap=True)
_CHROOT = (
    "its processes open data connections after chroot(), where the path of toed's socket does not "
    "exist"
)
_NO_THREAD = (
    "its login processes set RLIMIT_NPROC to 1, so libtoe has no thread to serve connections that "
    "they pass on"
)
_NODE = "@folder@/cluster.js @ip@ @port@"

PROGRAMS = (
    *(
        Program(
            f"apache-{mpm}",
            ["apache2"],
            _APACHE,
            reload=_GRACEFUL,
            conf=["apache.conf"],
            words={"mpm": mpm, "listen": ""},
        )
        for mpm in ("prefork", "worker", "event")
    ),
    Program(
        "apache-prefork-2",
        ["apache2"],
        _APACHE,
        reload=_GRACEFUL,
        conf=["apache.conf"],
        words={"mpm": "prefork", "listen": "Listen @ip@:@second@"},
        note="two Listen lines",
    ),
    *(
        Program(
            name,
            ["uwsgi-core", "uwsgi-plugin-python3"],
            f"uwsgi --plugin python3 --master --processes 4 --http-socket @ip@:@port@ "
            f"--wsgi-file @folder@/wsgi.py --die-on-term --disable-logging{more}",
            reload=Reload(signal.SIGHUP, replaces=True),
            conf=["wsgi.py"],
            note=more.strip(),
        )
        for name, more in (("uwsgi", ""), ("uwsgi-thunder-lock", " --thunder-lock"))
    ),
    Program(
        "uvicorn",
        ["python3-uvicorn"],
        "/usr/bin/python3 -m uvicorn --app-dir @folder@ asgi:app --workers 2 "
        "--host @ip@ --port @port@ --log-level warning",
        reload=RESTART,
        conf=["asgi.py"],
    ),
    Program(
        "node",
        ["nodejs"],
        f"node {_NODE}",
        reload=_CLUSTER,
        conf=["cluster.js"],
    ),
    Program(
        "node-newest",
        [prepare.NPM_NODE],
        f"{prepare.NEWEST_NODE} {_NODE}",
        note="newest of npm",
        reload=_CLUSTER,
        conf=["cluster.js"],
    ),
    Program(
        "php-fpm",
        ["php8.2-fpm"],
        f"{prepare.PHP_FPM} -R -y @folder@/php-fpm.conf",
        reload=Reload(signal.SIGUSR2, says="ready to handle connections"),
        conf=["php-fpm.conf", "file.php"],
        note="pm.max_requests, behind nginx",
        front="php-front.conf",
    ),
    Program(
        "tcl",
        ["tcl"],
        "tclsh @folder@/serve.tcl @ip@ @port@",
        reload=Reload(
            commands=["touch @folder@/again"], says="listening", gap=True, name="listens again"
        ),
        conf=["serve.tcl"],
    ),
    Program(
        "squid",
        ["squid"],
        "squid -N -f @folder@/squid.conf",
        client="proxy",
        reload=Reload(signal.SIGHUP, says="Accepting HTTP", gap=True),
        conf=["squid.conf"],
        origin=True,
        user="proxy",
    ),
    Program(
        "varnish",
        ["varnish"],
        "varnishd -F -a @ip@:@port@ -f @folder@/varnish.vcl -n @folder@/state -s malloc,32m",
        reload=Reload(
            commands=[
                "varnishadm -n @folder@/state vcl.load second @folder@/varnish.vcl",
                "varnishadm -n @folder@/state vcl.use second",
            ],
            name="vcl.load, vcl.use",
        ),
        conf=["varnish.vcl"],
        origin=True,
    ),
    Program(
        "stunnel",
        ["stunnel4"],
        "stunnel4 @folder@/stunnel.conf",
        client="https",
        reload=Reload(signal.SIGHUP, says="Configuration successful", gap=True),
        conf=["stunnel.conf"],
        prepare=prepare.certificate,
        origin=True,
    ),
    Program(
        "vsftpd",
        ["vsftpd"],
        "vsftpd @folder@/vsftpd.conf",
        client="ftp",
        conf=["vsftpd.conf"],
        known=_CHROOT,
        prepare=prepare.empty_folder,
    ),
    *(
        Program(
            f"dovecot-{protocol}",
            ["dovecot-imapd", "dovecot-pop3d"],
            "dovecot -F -c @folder@/dovecot.conf",
            client=protocol,
            reload=Reload(signal.SIGHUP, says="reloading configuration"),
            conf=["dovecot.conf"],
            known=_NO_THREAD,
            prepare=prepare.maildir,
            user="mail",
        )
        for protocol in ("imap", "pop3")
    ),
    Program(
        "exim",
        ["exim4-daemon-light"],
        "exim4 -bdf -C @folder@/exim.conf",
        client="smtp",
        # Not SIGHUP: exim then executes itself, and libtoe is not loaded into a set-user-ID program
        # that another user than root starts.
        reload=RESTART,
        note="not SIGHUP: it executes a set-user-ID program",
        conf=["exim.conf"],
        check=prepare.compare_queue,
        user="Debian-exim",
    ),
    Program(
        "mariadb",
        ["mariadb-server"],
        "mariadbd --no-defaults --user=mysql --datadir=@folder@/state --bind-address=@ip@ "
        "--port=@port@ --socket=@folder@/state/sock --init-file=@folder@/state/init "
        "--secure-file-priv= --skip-name-resolve --innodb-flush-log-at-trx-commit=0",
        client="mysql",
        prepare=prepare.database,
        user="mysql",
        libraries=["python3-pymysql"],
    ),
    Program(
        "mosquitto",
        ["mosquitto"],
        "mosquitto -c @folder@/mosquitto.conf",
        client="mqtt",
        reload=Reload(signal.SIGHUP, says="Reloading config"),
        conf=["mosquitto.conf"],
        libraries=["python3-paho-mqtt"],
    ),
    Program(
        "rabbitmq",
        ["rabbitmq-server"],
        "/usr/lib/rabbitmq/bin/rabbitmq-server",
        client="amqp",
        reload=Reload(
            commands=[
                "/usr/lib/rabbitmq/bin/rabbitmqctl eval rabbit_maintenance:"
                "suspend_all_client_listeners(),rabbit_maintenance:resume_all_client_listeners()."
            ],
            gap=True,
            name="listeners suspended and resumed",
        ),
        conf=["rabbitmq.conf"],
        env=prepare.RABBITMQ,
        libraries=["python3-pika"],
        ready=90,
    ),
    Program(
        "transmission",
        ["transmission-daemon"],
        "transmission-daemon -f -g @folder@/config",
        client="rpc",
        reload=Reload(signal.SIGHUP, gap=True),
        conf=["settings.json"],
        prepare=prepare.torrent,
    ),
)
BY_NAME = {program.name: program for program in PROGRAMS}
