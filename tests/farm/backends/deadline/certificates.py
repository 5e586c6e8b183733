"""A studio's own authority, and certificates that it has signed, by the program openssl."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
AUTHORITY = """
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
subjectAltName = {names}
authorityKeyIdentifier = keyid
"""


def make_authority(folder: Path) -> Path:
    """The file of its certificate. Its key lies beside."""
    if shutil.which("openssl") is None:
        pytest.skip("the program openssl is not here: no certificates can be made")
    (folder / "openssl.cnf").write_text(AUTHORITY.format(names="IP:127.0.0.1"))
    _openssl(folder, "req", "-x509", *KEY, "-extensions", "authority", "-subj", "/CN=studio", "-out", "ca.pem")
    (folder / "privkey.pem").rename(folder / "ca.key")
    return folder / "ca.pem"


def make_certificate(ca: Path, names: str) -> Path:
    """Signed by that authority for these names, such as IP:127.0.0.1; a file that holds the key too."""
    folder, name = ca.parent, names.replace(":", "_")
    (folder / "openssl.cnf").write_text(AUTHORITY.format(names=names))
    _openssl(folder, "req", *KEY, "-subj", "/CN=farm", "-out", "farm.csr")
    sign = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "openssl.cnf", "-extensions", "server")
    _openssl(folder, "x509", "-req", "-in", "farm.csr", *sign, "-out", "farm.pem")
    both = folder / f"{name}.pem"
    both.write_text((folder / "privkey.pem").read_text() + (folder / "farm.pem").read_text())
    return both


def _openssl(folder: Path, command: str, *words: str) -> None:
    more = ("-config", "openssl.cnf", "-keyout", "privkey.pem") if command == "req" else ()
    subprocess.run(["openssl", command, *words, *more], cwd=folder, check=True, capture_output=True)
