#!/usr/bin/env python3
"""Terminates TLS in front of a server: tls-proxy.py FOLDER. The folder contains the files `certificate`, `key` and
`backend`. `backend` contains the port of the server, and is needed only when the first connection arrives.

Prints its own port.
"""
import pathlib
import select
import socket
import ssl
import sys
import threading

folder = pathlib.Path(sys.argv[1])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(folder / "certificate", folder / "key")


def serve(connection):
    # Use one thread for both directions, because a TLS connection is not thread-safe.
    try:
        client = context.wrap_socket(connection, server_side=True)
        server = socket.create_connection(("127.0.0.1", int((folder / "backend").read_text())))
        with client, server:
            while True:
                ready = [client] if client.pending() else select.select([client, server], [], [])[0]
                for source, target in ((client, server), (server, client)):
                    if source in ready:
                        data = source.recv(65536)
                        if not data:
                            return
                        target.sendall(data)
    except OSError:
        connection.close()


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
