#!/usr/bin/env python3
"""A client of WS-Discovery that does what Windows does, for Tests/Ops/discovery.py.

    wsd_client.py listen INTERFACE          prints the family, action and addresses of each message to the group
    wsd_client.py ask INTERFACE FAMILY      asks for devices, resolves the first one, fetches its metadata, and prints JSON
    wsd_client.py noise INTERFACE FAMILY    sends malformed datagrams
"""

import http.client
import json
import random
import re
import select
import socket
import struct
import sys
import urllib.parse
import uuid
import xml.etree.ElementTree as tree

PORT = 3702
LIMIT_SECONDS = 20
NAMES = {"soap": "http://www.w3.org/2003/05/soap-envelope", "wsa": "http://schemas.xmlsoap.org/ws/2004/08/addressing",
         "wsd": "http://schemas.xmlsoap.org/ws/2005/04/discovery", "wsdp": "http://schemas.xmlsoap.org/ws/2006/02/devprof",
         "pnpx": "http://schemas.microsoft.com/windows/pnpx/2005/10"}
GROUPS = {"4": "239.255.255.250", "6": "ff02::c"}


def envelope(action, body, to="urn:schemas-xmlsoap-org:ws:2005:04:discovery"):
    declared = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in NAMES.items())
    return (f'<?xml version="1.0" encoding="utf-8"?><soap:Envelope {declared}><soap:Header><wsa:To>{to}</wsa:To>'
            f"<wsa:Action>{action}</wsa:Action><wsa:MessageID>urn:uuid:{uuid.uuid4()}</wsa:MessageID></soap:Header>"
            f"<soap:Body>{body}</soap:Body></soap:Envelope>").encode()


def sender(index, family):
    if family == "4":
        number = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        number.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("@4s4si", bytes(4), bytes(4), index))
    else:
        number = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        number.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
    number.settimeout(LIMIT_SECONDS)
    return number


def receiver(index, family):
    if family == "4":
        number = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        request = socket.inet_aton(GROUPS["4"]) + bytes(4) + struct.pack("@i", index)
        number.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        number.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request)
        number.bind((GROUPS["4"], PORT))
    else:
        number = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        request = socket.inet_pton(socket.AF_INET6, GROUPS["6"]) + struct.pack("@I", index)
        number.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        number.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, request)
        number.bind((GROUPS["6"], PORT, 0, index))
    return number


def field(document, path):
    return (document.findtext(f".//{path}", "", NAMES) or "").strip()


def ask(index, family):
    number = sender(index, family)

    def question(action, body):
        # A datagram can be lost, for example because the server has not read earlier ones yet. So clients repeat it.
        for _ in range(LIMIT_SECONDS):
            number.sendto(envelope(f"{NAMES['wsd']}/{action}", body), (GROUPS[family], PORT))
            if select.select([number], [], [], 1)[0]:
                return tree.fromstring(number.recv(65536))
        raise TimeoutError(action)

    found = question("Probe", "<wsd:Probe><wsd:Types>wsdp:Device</wsd:Types></wsd:Probe>")
    address = field(found, "wsa:EndpointReference/wsa:Address")
    resolved = question("Resolve", f"<wsd:Resolve><wsa:EndpointReference><wsa:Address>{address}</wsa:Address>"
                                   "</wsa:EndpointReference></wsd:Resolve>")
    place = urllib.parse.urlsplit(field(resolved, "wsd:XAddrs"))
    host = f"{place.hostname}%{index}" if place.hostname.startswith("fe80:") else place.hostname

    def post(body, kind="application/soap+xml"):
        connection = http.client.HTTPConnection(host, place.port, timeout=LIMIT_SECONDS)
        connection.putrequest("POST", place.path, skip_host=True)
        connection.putheader("Host", place.netloc)
        connection.putheader("Content-Type", kind)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read()

    status, content = post(envelope("http://schemas.xmlsoap.org/ws/2004/09/transfer/Get", "", address))
    metadata = tree.fromstring(content) if status == 200 else tree.fromstring("<a/>")
    print(json.dumps({
        "action": field(found, "wsa:Action").rsplit("/", 1)[-1], "types": field(found, "wsd:Types"),
        "addresses": field(found, "wsd:XAddrs"), "resolved": field(resolved, "wsd:XAddrs"), "status": status,
        "name": field(metadata, "wsdp:FriendlyName"), "category": field(metadata, "pnpx:DeviceCategory"),
        "presentation": field(metadata, "wsdp:PresentationUrl"), "malformed": post(b"<a")[0],
        "other-type": post(b"x", "text/plain")[0],
    }))


def noise(index, family):
    number = sender(index, family)
    generator = random.Random(1)
    good = envelope(f"{NAMES['wsd']}/Probe", "<wsd:Probe><wsd:Types>wsdp:Device</wsd:Types></wsd:Probe>")
    for count in range(500):
        changed = bytearray(good)
        for _ in range(1 + count % 8):
            changed[generator.randrange(len(changed))] = generator.randrange(256)
        number.sendto(b"<" + bytes(changed[:generator.randrange(len(changed))]), (GROUPS[family], PORT))
    for data in [b"", b"\0" * 9000, b"<!DOCTYPE a>" + good, b"<a>" * 2000]:
        number.sendto(data, (GROUPS[family], PORT))


def listen(index):
    numbers = {receiver(index, family): family for family in GROUPS}
    print("listening", flush=True)
    while True:
        for number in select.select(list(numbers), [], [])[0]:
            try:
                document = tree.fromstring(number.recv(65536))
            except tree.ParseError:
                continue
            print(numbers[number], re.sub(".*/", "", field(document, "wsa:Action")), field(document, "wsd:XAddrs"), flush=True)


def main():
    index = socket.if_nametoindex(sys.argv[2])
    {"listen": listen, "ask": ask, "noise": noise}[sys.argv[1]](index, *sys.argv[3:])


if __name__ == "__main__":
    main()
