import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

struct MultipartFormTests {
    static let d = "Content-Disposition: form-data; name="
    let storage = MemoryStorage()

    private func client(_ limits: MultipartLimits = MultipartLimits()) -> TestClient<Router> {
        RouterTests.client(files: storage.temporaryFiles) { routes in
            routes.post("/", body: .multipart(limits: limits)) { _, form in
                let fields = form.fields.map { "\($0.name)=\($0.value)" }
                let files = form.files.map { file in
                    "\(file.name)=\(file.fileName):\(file.contentType?.essence ?? "?"):\(file.file.length)"
                }
                return .text((fields + files).joined(separator: "|"))
            }
        }
    }

    private func send(
        _ parts: [String], limits: MultipartLimits = MultipartLimits(),
        type: String = "multipart/form-data; boundary=b"
    ) async throws -> TestResponse {
        let form = parts.map { "--b\r\n\($0)\r\n" }.joined() + "--b--\r\n"
        let whole = try await client(limits).send("POST", "/", [("Content-Type", type)], text: form)
        for size in [1, 10, 1000] {
            let body = PiecewiseBody(Array(form.utf8), size: size)
            let response = try await client(limits).send("POST", "/", [("Content-Type", type)], body: body)
            #expect(response.text == whole.text)
            #expect(response.status == whole.status)
        }
        #expect(storage.fileCount == 0)
        return whole
    }

    @Test func fieldsAndFilesKeepTheirOrder() async throws {
        let response = try await send([
            "\(Self.d)a\r\n\r\n1", "\(Self.d)f; filename=x.txt\r\nContent-Type: text/plain\r\n\r\nabc",
            "\(Self.d)a\r\n\r\n2",
            "\(Self.d)f; filename=\"../y\"\r\n\r\n", "\(Self.d)f; filename=\"\"\r\nContent-Type: a/b\r\n\r\n",
        ])
        #expect(response.text == "a=1|a=2|f=x.txt:text/plain:3|f=y:?:0|f=:a/b:0")
    }

    static let fields: [(parts: [String], text: String)] = [
        // The charset is that of the part (RFC 7578 §5.1.2), otherwise that of the field `_charset_` (§4.6),
        // otherwise UTF-8.
        (["\(d)a\r\n\r\nö"], "a=ö"),
        (["\(d)a\r\nContent-Type: text/plain; charset=us-ascii\r\n\r\no"], "a=o"),
        (["\(d)_charset_\r\n\r\niso-8859-1", "\(d)a\r\n\r\nö"], "_charset_=iso-8859-1|a=Ã¶"),
        (["\(d)a\r\n\r\nö", "\(d)_charset_\r\n\r\nlatin1"], "a=Ã¶|_charset_=latin1"),
        (
            ["\(d)_charset_\r\n\r\niso-8859-1", "\(d)a\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nö"],
            "_charset_=iso-8859-1|a=ö"
        ),
        ([], ""),
    ]

    @Test(arguments: fields)
    func fieldsAreDecodedByTheirCharset(parts: [String], text: String) async throws {
        #expect(try await send(parts).text == text)
    }

    @Test func longFilesAreReadInPieces() async throws {
        let content = String(repeating: "\r\n--bx0123456789", count: 50_000)
        let form = "--b\r\n\(Self.d)f; filename=x\r\n\r\n\(content)\r\n--b\r\n\(Self.d)a\r\n\r\n1\r\n--b--"
        for size in [1000, 65_536, 1_000_000] {
            let body = PiecewiseBody(Array(form.utf8), size: size)
            let response = try await client().send(
                "POST", "/", [("Content-Type", "multipart/form-data; boundary=b")], body: body)
            #expect(response.text == "a=1|f=x:?:\(content.utf8.count)")
        }
    }

    static let refused: [(parts: [String], type: String, status: UInt16, reason: String)] = [
        (["\(d)a\r\n\r\n1"], "multipart/form-data", 400, "boundary"),
        (["\(d)a\r\n\r\n1"], "text/plain", 415, "multipart"),
        (["\(d)a\r\n\r\n1"], "multipart/form-data; boundary=c", 400, "truncated"),
        (["X: y\r\n\r\n1"], "multipart/form-data; boundary=b", 400, "byte 5"),
        (
            ["\(d)a\r\nContent-Transfer-Encoding: base64\r\n\r\n1"], "multipart/form-data; boundary=b", 415,
            "byte 5"
        ),
        (
            ["\(d)a\r\nContent-Type: a/b; charset=x\r\n\r\n1"], "multipart/form-data; boundary=b", 415,
            "charset"
        ),
        (
            ["\(d)a\r\nContent-Type: a/b; charset=us-ascii\r\n\r\naö"], "multipart/form-data; boundary=b",
            400, "byte 1"
        ),
        // Exceeded limits are reported with their value.
        (["\(d)a\r\n\r\n12345", "\(d)b\r\n\r\n123456"], "multipart/form-data; boundary=b", 413, "10 bytes"),
        (
            ["\(d)a; filename=x\r\n\r\n123", "\(d)b; filename=x\r\n\r\n123"],
            "multipart/form-data; boundary=b", 413, "5 bytes"
        ),
        ((0..<4).map { "\(d)a\($0)\r\n\r\n1" }, "multipart/form-data; boundary=b", 413, "3 parts"),
        (
            (0..<3).map { "\(d)a; filename=x\($0)\r\n\r\n1" }, "multipart/form-data; boundary=b", 413,
            "2 files"
        ),
        (
            ["\(d)a\r\nX: \(String(repeating: "x", count: 100))\r\n\r\n"], "multipart/form-data; boundary=b",
            413, "100 bytes"
        ),
    ]

    @Test(arguments: refused)
    func malformedFormsAreRefusedWithAReason(parts: [String], type: String, status: UInt16, reason: String)
        async throws
    {
        var limits = MultipartLimits()
        limits.parts = 3
        limits.files = 2
        limits.partHeadBytes = 100
        limits.fieldBytes = 10
        limits.fileBytes = 5
        let response = try await send(parts, limits: limits, type: type)
        #expect(response.status == status)
        #expect(response.text.contains(reason))
    }

    /// Forms that are exactly at each limit.
    static let accepted: [[String]] = [
        ["\(d)a\r\n\r\n12345", "\(d)b\r\n\r\n12345"],
        ["\(d)a; filename=x\r\n\r\n12", "\(d)b; filename=x\r\n\r\n123"],
        (0..<3).map { "\(d)a\($0)\r\n\r\n1" },
        (0..<2).map { "\(d)a; filename=x\($0)\r\n\r\n1" },
    ]

    @Test(arguments: accepted)
    func formsAtTheLimitsAreAccepted(parts: [String]) async throws {
        var limits = MultipartLimits()
        limits.parts = 3
        limits.files = 2
        limits.partHeadBytes = 100
        limits.fieldBytes = 10
        limits.fileBytes = 5
        #expect(try await send(parts, limits: limits).status == 200)
    }

    /// A file of up to 256 KiB is stored in memory; a larger one is written to disk.
    @Test func filesInMemoryAreLimited() async throws {
        for (count, files) in [(262_144, 0), (262_145, 1)] {
            let client = RouterTests.client(files: storage.temporaryFiles) { [storage] routes in
                routes.post("/", body: .multipart()) { _, form in
                    .text("\(form.files.first?.file.length ?? -1) \(storage.fileCount)")
                }
            }
            let form = Self.begin + String(repeating: "x", count: count) + "\r\n--b--"
            let response = try await client.send("POST", "/", Self.multipart, text: form)
            #expect(response.text == "\(count) \(files)")
        }
        #expect(storage.fileCount == 0)
    }

    static let begin = "--b\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\n"
    static let multipart = [("Content-Type", "multipart/form-data; boundary=b")]

    /// The action is not called if the body is truncated, even after the closing delimiter (X01 in
    /// docs/coming-from-gcdwebserver.md).
    @Test(arguments: [0, 1, 3, 20])
    func truncatedFormIsRejected(missing: Int) async throws {
        let whole = Array((Self.begin + "abc\r\n--b--\r\nand something behind it").utf8)
        let called = Mutex(0)
        let client = RouterTests.client(files: storage.temporaryFiles) { routes in
            routes.post("/", body: .multipart()) { _, form in
                called.withLock { $0 += 1 }
                return .text("\(form.files.count)")
            }
        }
        let body = PiecewiseBody(Array(whole.dropLast(missing)), size: 7, isCut: missing > 0)
        if missing == 0 {
            #expect(try await client.send("POST", "/", Self.multipart, body: body).text == "1")
        } else {
            await #expect(throws: HTTPError.disconnected) {
                try await client.send("POST", "/", Self.multipart, body: body)
            }
        }
        #expect(called.withLock { $0 } == (missing == 0 ? 1 : 0))
        #expect(storage.fileCount == 0)
    }

    @Test func epilogueIsLimited() async throws {
        let form = Self.begin + "abc\r\n--b--\r\n"
        let allowed = Array(form.utf8) + [UInt8](repeating: 32, count: 60_000)
        #expect(
            try await client().send("POST", "/", Self.multipart, body: PiecewiseBody(allowed, size: 999))
                .status == 200)
        let endless = PiecewiseBody(Array(form.utf8) + [UInt8](repeating: 32, count: 3_000_000), size: 9999)
        let response = try await client().send("POST", "/", Self.multipart, body: endless)
        #expect(response.status == 400)
        #expect(response.text.contains("byte \(form.utf8.count - 2)"))
        // The rest of the body has not been read.
        #expect(try await endless.read(into: IOBuffer(capacity: 10)) > 0)
    }

    @Test func impossibleLengthIsRefusedUnread() async throws {
        var limits = MultipartLimits()
        limits.fileBytes = 1000
        limits.fieldBytes = 1000
        limits.parts = 2
        let body = PiecewiseBody([UInt8](repeating: 45, count: 1 << 20), size: 1 << 20, isChunked: false)
        let response = try await client(limits).send("POST", "/", Self.multipart, body: body)
        #expect(response.status == 413)
        #expect(response.text.contains("bytes"))
        #expect(try await body.read(into: IOBuffer(capacity: 2 << 20)) == 1 << 20)
    }

    /// Content that exceeds the memory of a request, which all files of a form share, is written to a file in
    /// pieces (X10 in docs/coming-from-gcdwebserver.md).
    @Test func longFilesAreWrittenToDisk() async throws {
        let short = String(repeating: "s", count: 100_000)
        let long = String(repeating: "l", count: 300_000)
        let parts = [short, short, long, short].map { "\(Self.begin)\($0)\r\n" }.joined()
        let form = parts + "--b--"
        let client = RouterTests.client(files: storage.temporaryFiles) { [storage] routes in
            routes.post("/", body: .multipart()) { _, form in
                var texts: [String] = []
                for file in form.files {
                    texts.append("\(try await file.file.bytes() == Array(repeating: 115, count: 100_000))")
                }
                return .text(texts.joined(separator: " ") + " \(storage.fileCount)")
            }
        }
        let body = PiecewiseBody(Array(form.utf8), size: 10_000, isChunked: false)
        let response = try await client.send("POST", "/", Self.multipart, body: body)
        #expect(response.text == "true true false true 2")
        // The third short file does not fit into the shared memory.
        #expect(storage.logs.map { $0.pieces.reduce(0, +) } == [300_000, 100_000])
        #expect(storage.logs.flatMap(\.pieces).allSatisfy { $0 <= 1 << 20 })
        #expect(storage.fileCount == 0)
    }

    /// Content that resembles delimiters must not cost a call per occurrence.
    @Test func contentLikeDelimitersNeedsFewFileCalls() async throws {
        let content = String(repeating: "\r\n--bx", count: 300_000)
        let form = Self.begin + content + "\r\n--b--"
        let response = try await client().send(
            "POST", "/", Self.multipart, body: PiecewiseBody(Array(form.utf8), size: 50_000))
        #expect(response.text == "f=x:?:\(content.utf8.count)")
        #expect(storage.logs.count == 1)
        #expect(storage.logs.flatMap(\.pieces).count < 20)
    }
}
