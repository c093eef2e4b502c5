"""Stands in for `polymnia` in a shell: a process of the tests forks the command (forked.py), and this ends as it does.

Called with ``python -I -S`` and the name of a socket, and imports as little as possible: it is there to be quick.
"""

import _signal
import _socket
import array
import os
import sys

command = [os.fsencode(part) for part in (os.getcwd(), str(len(sys.argv) - 2), *sys.argv[2:])]
variables = [name + b"=" + value for name, value in os.environb.items()]
standard = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", (0, 1, 2)))
connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
connection.connect("\0" + sys.argv[1])
connection.sendmsg([b"\0".join(command + variables)], [standard])
process = int(connection.recv(20))
for signal in (_signal.SIGINT, _signal.SIGTERM):
    _signal.signal(signal, lambda number, _: os.kill(process, number))
sys.exit(int(connection.recv(20)))
