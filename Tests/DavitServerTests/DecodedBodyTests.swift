import DavitHTTP
import DavitServer
import DavitTesting
import DavitZlib
import Testing

/// RFC 9110 §8.4: content codings of requests.
struct DecodedBodyTests {
    static let client = RouterTests.client { routes in
        routes.post("/bytes", body: .bytes(limitBytes: 2000)) { _, bytes in .bytes(bytes) }
        routes.post("/form", body: .form(limitBytes: 200)) { _, form in .text(form["a"] ?? "") }
        routes.post("/large", body: .bytes(limitBytes: 100 << 20)) { _, bytes in .text("\(bytes.count)") }
    }

    static let content =
        Array("Some text, some more text, and some more. ".utf8) + (0..<200).map { UInt8($0) }

    static let formats: [(coding: String, format: Deflater.Format)] = [
        ("gzip", .gzip), ("x-gzip", .gzip), ("identity, GZIP", .gzip), ("deflate", .zlib), ("deflate", .raw),
    ]

    @Test(arguments: formats)
    func contentIsDecoded(coding: String, format: Deflater.Format) async throws {
        let fields = [("Content-Encoding", coding)]
        let coded = try Gzip.encode(Self.content, format)
        let response = try await Self.client.send("POST", "/bytes", fields, body: coded)
        #expect(response.status == 200)
        #expect(response.body == Self.content)
        for size in [1, 3, 100] {
            for isChunked in [true, false] {
                let pieces = PiecewiseBody(coded, size: size, isChunked: isChunked)
                #expect(
                    try await Self.client.send("POST", "/bytes", fields, body: pieces).body == Self.content)
            }
        }
    }

    @Test func formsAndFilesAreDecoded() async throws {
        let storage = MemoryStorage()
        let client = RouterTests.client(files: storage.temporaryFiles) { routes in
            routes.put("/file", body: .file(limitBytes: 1_000_000)) { _, file in
                .text("\(file.length)")
            }
            routes.post("/upload", body: .multipart()) { _, form in
                let file = try await form.file("f")?.file.bytes() ?? []
                return .text("\(form["a"] ?? "") \(String(decoding: file, as: UTF8.self))")
            }
        }
        let fields = [("Content-Encoding", "gzip")]
        let file = try Gzip.encode((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        #expect(try await client.send("PUT", "/file", fields, body: file).text == "1000000")
        let longer = try Gzip.encode((0..<1_000_001).map { UInt8(truncatingIfNeeded: $0 / 7) })
        #expect(try await client.send("PUT", "/file", fields, body: longer).status == 413)
        #expect(storage.fileCount == 0)

        let part = "--b\r\nContent-Disposition: form-data; name="
        let form = part + "a\r\n\r\nx\r\n" + part + "f; filename=n\r\n\r\ny\r\n--b--\r\n"
        let multipart = fields + [("Content-Type", "multipart/form-data; boundary=b")]
        let coded = try Gzip.encode(Array(form.utf8))
        #expect(try await client.send("POST", "/upload", multipart, body: coded).text == "x y")
        // The checksum, which is wrong here, follows the form.
        let wrong = coded.dropLast() + [coded[coded.count - 1] ^ 1]
        #expect(try await client.send("POST", "/upload", multipart, body: Array(wrong)).status == 400)

        let urlEncoded = fields + [("Content-Type", BodyReaderTests.urlEncoded)]
        let short = try Gzip.encode(Array("a=%2B".utf8))
        #expect(try await Self.client.send("POST", "/form", urlEncoded, body: short).text == "+")
    }

    @Test(arguments: ["br", "gzip, gzip", "deflate, gzip", "zstd, identity", "gzip;q=1"])
    func unsupportedCodingsAreRefused(coding: String) async throws {
        let fields = [("Content-Encoding", coding)]
        let response = try await Self.client.send("POST", "/bytes", fields, text: "a")
        #expect(response.status == 415)
        // §15.5.16 and §12.5.3
        #expect(response["Accept-Encoding"] == "gzip, deflate, identity")
    }

    @Test func limitAppliesToDecodedContent() async throws {
        let fields = [("Content-Encoding", "gzip")]
        let most = try Gzip.encode([UInt8](repeating: 1, count: 2000))
        #expect(try await Self.client.send("POST", "/bytes", fields, body: most).body.count == 2000)
        let tooMuch = try Gzip.encode([UInt8](repeating: 1, count: 2001))
        let response = try await Self.client.send("POST", "/bytes", fields, body: tooMuch)
        #expect(response.status == 413)
        #expect(response.text.contains("2000 bytes"))
        // The limit also applies to the encoded content, even if it decodes to nothing.
        let empty = try (0..<101).flatMap { _ in try Gzip.encode([]) }
        #expect(empty.count > 2000)
        #expect(try await Self.client.send("POST", "/bytes", fields, body: empty).status == 413)
        let pieces = PiecewiseBody(empty, size: 100)
        #expect(try await Self.client.send("POST", "/bytes", fields, body: pieces).status == 413)
    }

    @Test func compressionBombIsRefused() async throws {
        let bomb = try Gzip.encode([UInt8](repeating: 0, count: 50 << 20))
        let response = try await Self.client.send(
            "POST", "/large", [("Content-Encoding", "gzip")], body: PiecewiseBody(bomb, size: 1000))
        #expect(response.status == 413)
        #expect(response.text.contains("200 times"))
    }

    static let broken: [(name: String, change: @Sendable ([UInt8]) -> [UInt8], reason: String)] = [
        ("cut", { Array($0.dropLast()) }, "truncated"), ("followed", { $0 + [0] }, "Unexpected data"),
        ("no gzip", { Array($0.dropFirst()) }, "malformed"),
        ("a wrong checksum", { $0.dropLast() + [$0[$0.count - 1] ^ 1] }, "malformed"),
    ]

    @Test(arguments: broken.indices)
    func corruptContentIsRefused(row: Int) async throws {
        let (_, change, reason) = Self.broken[row]
        let bytes = change(try Gzip.encode(Self.content))
        for body in [PiecewiseBody(bytes, size: 1), PiecewiseBody(bytes, size: 1000, isChunked: false)] {
            let response = try await Self.client.send(
                "POST", "/bytes", [("Content-Encoding", "gzip")], body: body)
            #expect(response.status == 400)
            #expect(response.text.contains(reason))
        }
    }

    @Test func emptyContentNeedsNoDecoding() async throws {
        let fields = [("Content-Encoding", "gzip")]
        #expect(try await Self.client.send("POST", "/bytes", fields).body == [])
        #expect(
            try await Self.client.send("POST", "/bytes", fields, body: PiecewiseBody([], size: 1)).body == [])
    }
}
