extension CorpusMessage {
    /// Transfer-Encoding, alone and together with Content-Length.
    static let transferCodings: [CorpusMessage] = [
        // Content-Length together with Transfer-Encoding.
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 15\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: identity\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding:\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        // Transfer codings in HTTP/1.0.
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        // Obfuscated values.
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunk\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunkedd\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(501)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(501)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: x, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(501)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked,chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked;q=1\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked; foo=bar\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \"chunked\"\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: 'chunked'\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chun ked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked x\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \u{B}chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \u{C}chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \u{0}chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\u{0}\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked,\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: , chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: ,\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chünked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: ｃhunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\rx\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\u{7F}\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(501)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(501)),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        // Valid spellings.
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \t chunked \t\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\ntransfer-ENCODING: ChUnKeD\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "6.1",
            "GET /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .read(["GET /a hello"])),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer_Encoding: chunked\r\n\r\nhello",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "6.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nX-Transfer-Encoding: chunked\r\n\r\nhello",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.4",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTE: chunked, trailers\r\nConnection: TE\r\n\r\nhello",
            .read(["PUT /a hello"])),
    ]
}
