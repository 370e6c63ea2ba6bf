"""Database servers of Debian's packages: on loopback, in a folder of their own, for a while."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psutil

PATIENCE_S = 300.0  # against hanging; a busy machine takes its time
NOBODY = "nobody"  # the servers refuse to be root


def found(name: str) -> str | None:
    """Path of a server's program, which Debian may keep off the path."""
    places = [str(path) for path in Path("/usr/lib/postgresql").glob("*/bin")] + ["/usr/sbin"]
    return shutil.which(name, path=os.pathsep.join([*os.get_exec_path(), *places]))


class Server:
    """A server with its data in a temporary folder; ``url`` is an empty database on it."""

    program = ""
    port = 0

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="database-"))
        self._user = NOBODY if os.getuid() == 0 else None
        if self._user:
            shutil.chown(self.folder, self._user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self._make()
        self.start()
        self._wait()
        self._make_database()

    @classmethod
    def is_there(cls) -> bool:
        """Whether the package is installed."""
        return found(cls.program) is not None

    def start(self) -> None:
        """Start it, or start it again after it was killed."""
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(), cwd=self.folder, user=self._user, stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    def restart(self) -> None:
        """Start it after it was killed, and wait until it answers."""
        self.start()
        self._wait()

    def kill(self) -> None:
        """End it and all of its processes at once, without a word."""
        assert self._process is not None
        family = psutil.Process(self._process.pid).children(recursive=True)
        self._process.kill()
        for one in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        psutil.wait_procs(family, timeout=PATIENCE_S)
        self._process.wait()

    def stop(self) -> None:
        """End it and throw its data away."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *words: str) -> None:
        command = found(program)
        assert command is not None
        subprocess.run(
            [command, *words], cwd=self.folder, user=self._user, check=True, capture_output=True
        )

    def _wait(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not self._answers():
            log = (self.folder / "server.log").read_text(errors="replace")
            assert time.monotonic() < deadline, f"waited in vain for {self.program}: {log}"
            time.sleep(0.05)

    @property
    def url(self) -> str:
        """What a study's ``storage`` says."""
        raise NotImplementedError

    def _make(self) -> None:
        raise NotImplementedError

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _answers(self) -> bool:
        raise NotImplementedError

    def _make_database(self) -> None:
        raise NotImplementedError


class PostgreSQL(Server):
    """PostgreSQL, which listens on TCP only."""

    program = "initdb"

    @property
    def url(self) -> str:
        return f"postgresql+psycopg2://balance@127.0.0.1:{self.port}/postgres"

    def _make(self) -> None:
        data = str(self.folder / "data")
        self._run("initdb", "-D", data, "-U", "balance", "--auth=trust", "--no-sync")

    def _command(self) -> list[str]:
        options = {"listen_addresses": "127.0.0.1", "port": self.port}
        options |= {"unix_socket_directories": "", "shared_buffers": "16MB"}
        program = found("postgres")
        assert program is not None
        settings = [word for key, value in options.items() for word in ("-c", f"{key}={value}")]
        return [program, "-D", str(self.folder / "data"), *settings]

    def _answers(self) -> bool:
        import psycopg2

        try:
            psycopg2.connect(
                host="127.0.0.1", port=self.port, user="balance", dbname="postgres"
            ).close()
        except psycopg2.OperationalError:
            return False
        return True

    def _make_database(self) -> None:
        pass  # the one that every user has will do


class MariaDB(Server):
    """MariaDB, whose root needs no password here."""

    program = "mariadbd"

    @property
    def url(self) -> str:
        return f"mysql+pymysql://root@127.0.0.1:{self.port}/balance"

    def _make(self) -> None:
        self._run(
            "mariadb-install-db", f"--datadir={self.folder / 'data'}", "--no-defaults",
            "--auth-root-authentication-method=normal", "--skip-test-db",
        )  # fmt: skip

    def _command(self) -> list[str]:
        program = found("mariadbd")
        assert program is not None
        return [
            program, "--no-defaults", f"--datadir={self.folder / 'data'}", f"--port={self.port}",
            "--bind-address=127.0.0.1", f"--socket={self.folder / 'socket'}",
            "--innodb-buffer-pool-size=16M", f"--pid-file={self.folder / 'pid'}",
        ]  # fmt: skip

    def _connect(self) -> None:
        import pymysql

        with pymysql.connect(host="127.0.0.1", port=self.port, user="root") as connection:
            connection.cursor().execute("CREATE DATABASE IF NOT EXISTS balance")

    def _answers(self) -> bool:
        import pymysql

        try:
            self._connect()
        except pymysql.err.OperationalError:
            return False
        return True

    def _make_database(self) -> None:
        self._connect()
