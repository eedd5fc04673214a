extension CorpusMessage {
    /// Content-Length.
    static let lengths: [CorpusMessage] = [
        // Content-Length must be a single number.
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello", .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\nhello", .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: -0\r\n\r\nhello", .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nhello", .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 05h\r\n\r\nhello", .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5 5\r\n\r\nhello", .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5,5\r\n\r\nhello", .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 5\r\n\r\nhello",
            .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 6\r\n\r\nhello",
            .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5;\r\n\r\nhello", .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5.0\r\n\r\nhello", .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5e0\r\n\r\nhello", .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: \"5\"\r\n\r\nhello",
            .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: ٥\r\n\r\nhello", .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\u{0}\r\n\r\nhello",
            .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: \r\n\r\nhello", .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: five\r\n\r\nhello",
            .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0,5\r\n\r\nhello", .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9223372036854775808\r\n\r\nhello",
            .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551621\r\n\r\nhello",
            .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999999999999\r\n\r\nhello",
            .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\u{B}\r\n\r\nhello",
            .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5_0\r\n\r\nhello", .refused(400)),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: {5}\r\n\r\nhello", .refused(400)),
        // Repeated values.
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
            .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\nhello",
            .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\ncontent-length: 0\r\n\r\nhello",
            .refused(400)),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\nhello",
            .refused(400)),
        // Valid lengths.
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length:5\r\n\r\nhello",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nCONTENT-LENGTH: \t5 \r\n\r\nhello",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 00005\r\n\r\nhello",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "6.3",
            "GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
            .read(["GET /a hello"])),
        CorpusMessage(
            "6.3",
            "DELETE /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
            .read(["DELETE /a hello"])),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", .read(["PUT /a "])),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\n\r\n", .read(["PUT /a "])),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nContent_Length: 5\r\n\r\n", .read(["PUT /a "])),
        CorpusMessage("6.3", "PUT /a HTTP/1.1\r\nHost: h\r\nX-Content-Length: 5\r\n\r\n", .read(["PUT /a "])),
        // Lengths that are longer and shorter than the content.
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhello",
            .refused(400, after: ["PUT /a helloGET /"])),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nhello\r\n\r\n",
            .refused(400, after: ["PUT /a hel"])),
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n",
            .refused(400, after: ["PUT /a GET /"])),
        // Content that looks like a request.
        CorpusMessage(
            "6.3",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 28\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n",
            .read(["PUT /a GET /b HTTP/1.1\r\nHost: h\r\n\r\n"])),
    ]
}
