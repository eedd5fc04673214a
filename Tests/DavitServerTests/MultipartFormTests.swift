import DavitHTTP
import DavitServer
import DavitTesting
import Testing

struct MultipartFormTests {
    static let d = "Content-Disposition: form-data; name="
    let storage = MemoryStorage()

    private func client(_ limits: MultipartLimits = MultipartLimits()) -> TestClient<Router> {
        RouterTests.client { routes in
            routes.post("/", body: .multipart(in: storage, limits: limits)) { _, form in
                let fields = form.fields.map { "\($0.name)=\($0.value)" }
                let files = form.files.map { file in
                    "\(file.name)=\(file.fileName):\(file.contentType?.essence ?? "?"):\(file.content.length)"
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

    @Test func fieldsAndFilesComeInTheirOrder() async throws {
        let response = try await send([
            "\(Self.d)a\r\n\r\n1", "\(Self.d)f; filename=x.txt\r\nContent-Type: text/plain\r\n\r\nabc",
            "\(Self.d)a\r\n\r\n2",
            "\(Self.d)f; filename=\"../y\"\r\n\r\n", "\(Self.d)f; filename=\"\"\r\nContent-Type: a/b\r\n\r\n",
        ])
        #expect(response.text == "a=1|a=2|f=x.txt:text/plain:3|f=y:?:0|f=:a/b:0")
    }

    static let fields: [(parts: [String], text: String)] = [
        // RFC 7578 §5.1.2: the charset of the part, §4.6: else that of _charset_, else UTF-8.
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
    func fieldsAreText(parts: [String], text: String) async throws {
        #expect(try await send(parts).text == text)
    }

    @Test func longFilesPassThrough() async throws {
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
        (["\(d)a\r\n\r\n1"], "multipart/form-data; boundary=c", 400, "too early"),
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
        // Limits, each with its number.
        (["\(d)a\r\n\r\n12345", "\(d)b\r\n\r\n123456"], "multipart/form-data; boundary=b", 413, "10 bytes"),
        (
            ["\(d)a; filename=x\r\n\r\n123", "\(d)b; filename=x\r\n\r\n123"],
            "multipart/form-data; boundary=b", 413, "5 bytes"
        ),
        ((0..<4).map { "\(d)a\($0)\r\n\r\n1" }, "multipart/form-data; boundary=b", 413, "3 parts"),
        (
            ["\(d)a\r\nX: \(String(repeating: "x", count: 100))\r\n\r\n"], "multipart/form-data; boundary=b",
            413, "100 bytes"
        ),
    ]

    @Test(arguments: refused)
    func refusesWithAReason(parts: [String], type: String, status: UInt16, reason: String) async throws {
        var limits = MultipartLimits()
        limits.parts = 3
        limits.partHeadBytes = 100
        limits.fieldBytes = 10
        limits.fileBytes = 5
        let response = try await send(parts, limits: limits, type: type)
        #expect(response.status == status)
        #expect(response.text.contains(reason))
    }
}
