extension CorpusMessage {
    /// Chunked content.
    static let chunks: [CorpusMessage] = [
        // Sizes.
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n05\r\nhello\r\n00\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n00000005\r\nhello\r\n0\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n4\r\nello\r\n0\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n000\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nA\r\nhelloworld\r\n0\r\n\r\n",
            .read(["PUT /a helloworld"])),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhelloworld\r\n0\r\n\r\n",
            .read(["PUT /a helloworld"])),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .read(["PUT /a "])),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\t5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\t\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5h\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5_\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5,\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5.0\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\ng\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n٥\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n100000005100000005100000005\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n000000000000000000005\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\u{0}\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\u{B}\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5 5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n%35\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\"5\"\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-0\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5:\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        // Line ends, and data longer or shorter than the chunk size.
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\rhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\n\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        // Chunk extensions are ignored.
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a\r\nhello\r\n0;a\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0;a=b\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"b;c\"\r\nhello\r\n0;a=\"b;c\"\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"\\\"\"\r\nhello\r\n0;a=\"\\\"\"\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;\r\nhello\r\n0;\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5 ;a\r\nhello\r\n0 ;a\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\t;a\r\nhello\r\n0\t;a\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a\t\r\nhello\r\n0;a\t\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;é\r\nhello\r\n0;é\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a\n\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a\r\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;\n0\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a\u{0}\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a\u{B}\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a\u{7F}\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5 a\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5=a\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a\rb\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a\nb\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.1",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;"
                + String(repeating: "x", count: 600) + "\r\nhello\r\n0\r\n\r\n",
            .refused(400)),
        // Trailers are ignored, whatever they contain.
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX:\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\nZ: \té \r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nTransfer-Encoding: gzip\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nHost: x\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nConnection: close\r\n\r\n",
            .read(["PUT /a hello"])),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX : y\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX Y: z\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n: y\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n z\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: \u{0}\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\n\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: a\rb\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: a\nb\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n X: y\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nÄ: y\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nGET /b HTTP/1.1\r\n\r\n",
            .refused(400)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: ~\r\n\r\n",
            .refused(431)),
        CorpusMessage(
            "7.1.2",
            "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
                + String(repeating: "X: y\r\n", count: 70) + "\r\n",
            .refused(431)),
    ]
}
