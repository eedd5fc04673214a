extension CorpusMessage {
    /// Consecutive messages, and the end of connections.
    static let connections: [CorpusMessage] = [
        // After a request that closes the connection, further requests are not processed, even if the client
        // has already sent them.
        CorpusMessage("9.3", "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", .read(["GET /a "])),
        CorpusMessage("9.3", "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", .ends(["GET /a "])),
        CorpusMessage(
            "9.3",
            "GET /a HTTP/1.1\r\nHost: h\r\nconnection: TE, Close\r\n\r\n",
            .ends(["GET /a "])),
        CorpusMessage(
            "9.3",
            "GET /a HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
            .ends(["GET /a "])),
        CorpusMessage("9.3", "GET /a HTTP/1.1\r\nHost: h\r\nConnection: closed\r\n\r\n", .read(["GET /a "])),
        CorpusMessage(
            "9.3",
            "GET /a HTTP/1.1\r\nHost: h\r\nProxy-Connection: close\r\n\r\n",
            .read(["GET /a "])),
        CorpusMessage(
            "9.3",
            "GET /a HTTP/1.0\r\nHost: h\r\nConnection: close, keep-alive\r\n\r\n",
            .ends(["GET /a "])),
        CorpusMessage("9.3", "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", .read(["GET /a "])),
        CorpusMessage(
            "9.3",
            "PUT /a HTTP/1.0\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello",
            .read(["PUT /a hello"])),
        CorpusMessage("9.3", "PUT /a HTTP/1.0\r\n\r\n", .ends(["PUT /a "])),
        CorpusMessage(
            "9.3.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhelloPUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n",
            .read(["PUT /a hello", "PUT /a hello", "GET /a "])),
        // The refusal of an invalid request follows the responses to the valid requests before it.
        CorpusMessage(
            "9.3.2",
            "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n",
            .refused(400, after: ["GET /a "])),
        CorpusMessage(
            "9.3.2",
            "GET /a HTTP/1.1\r\nHost: h\r\n\r\nPUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nx\r\n",
            .refused(400, after: ["GET /a "])),
        CorpusMessage(
            "9.3.2",
            "GET /a HTTP/1.1\r\nHost: h\r\n\r\n\u{16}\u{3}\u{1}",
            .refused(400, after: ["GET /a "])),
        CorpusMessage(
            "9.6",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
            .ends(["PUT /a hello"])),
        CorpusMessage(
            "9.6",
            "PUT /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .ends(["PUT /a hello"])),
        // Upgrades are not supported, and are ignored.
        CorpusMessage(
            "RFC 9110 7.8",
            "GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
            .read(["GET /a "])),
        CorpusMessage(
            "RFC 9110 7.8",
            "GET /a HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            .read(["GET /a "])),
        CorpusMessage(
            "RFC 9110 10.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: x\r\n\r\nhello",
            .refused(417)),
        CorpusMessage(
            "RFC 9110 10.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue, x\r\n\r\nhello",
            .refused(417)),
        CorpusMessage(
            "RFC 9110 10.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: \r\n\r\nhello",
            .refused(417)),
        CorpusMessage(
            "RFC 9110 10.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100\r\n\r\nhello",
            .refused(417)),
        CorpusMessage(
            "RFC 9110 10.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 200-ok\r\n\r\nhello",
            .refused(417)),
        CorpusMessage(
            "RFC 9110 10.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue;x\r\n\r\nhello",
            .refused(417)),
        CorpusMessage(
            "RFC 9110 10.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\nhello",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "RFC 9110 10.1.1",
            "GET /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n",
            .read(["GET /a "])),
    ]
}
