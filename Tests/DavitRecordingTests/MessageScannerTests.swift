import DavitRecording
import Testing

struct MessageScannerTests {
    /// Returns the scanned steps in a short form; content of several steps is joined.
    static func found(_ pieces: [ArraySlice<UInt8>], framing: (MessageHead) -> ContentFraming?) -> [String] {
        var scanner = MessageScanner()
        var found: [String] = []
        var content: [UInt8] = []
        for piece in pieces {
            var rest = Array(piece)
            while true {
                let step: MessageScanner.Step
                do {
                    let next = try unsafe rest.withUnsafeBytes { try unsafe scanner.next($0) }
                    rest.removeFirst(next.consumed)
                    step = next.step
                } catch {
                    return found + ["lost"]
                }
                if step == .needMore { break }
                switch step {
                case .head(let head):
                    found.append(head.words.joined(separator: " "))
                    guard let framing = framing(head) else { return found + ["unknown"] }
                    scanner.begin(framing)
                case .content(let count):
                    content += rest[..<count]
                    rest.removeFirst(count)
                case .end:
                    found.append("[" + String(decoding: content, as: UTF8.self) + "]")
                    content = []
                case .needMore: break
                }
            }
        }
        if !content.isEmpty { found.append(String(decoding: content, as: UTF8.self)) }
        return found
    }

    static let requests: [(bytes: String, found: [String])] = [
        ("GET / HTTP/1.1\r\n\r\n", ["GET / HTTP/1.1", "[]"]),
        // RFC 9112 §2.2: empty lines before a request, and lines that end with LF alone.
        ("\r\n\nGET / HTTP/1.1\nHost: a\n\n", ["GET / HTTP/1.1", "[]"]),
        // §6.2, pipelined requests.
        (
            "PUT /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\n\r\n",
            ["PUT /a HTTP/1.1", "[abc]", "GET /b HTTP/1.1", "[]"]
        ),
        // §7.1, with a chunk extension and a trailer.
        (
            "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=1\r\nab\r\n1\r\nc\r\n0\r\nT: 1\r\n\r\nGET /b HTTP/1.1\r\n\r\n",
            ["PUT /a HTTP/1.1", "[abc]", "GET /b HTTP/1.1", "[]"]
        ),
        // §6.3: the end of the content cannot be determined.
        (
            "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\na",
            ["PUT /a HTTP/1.1", "unknown"]
        ),
        ("PUT /a HTTP/1.1\r\nContent-Length: 1, 2\r\n\r\na", ["PUT /a HTTP/1.1", "unknown"]),
        ("PUT /a HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\na", ["PUT /a HTTP/1.1", "unknown"]),
        ("garbage\r\n\r\n", ["lost"]),
        ("GET / HTTP/1.1\r\nno field\r\n\r\n", ["lost"]),
        ("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxy", ["PUT / HTTP/1.1", "lost"]),
    ]

    @Test(arguments: requests)
    func requestsAreFoundInAnyPieces(bytes: String, found: [String]) {
        let all = Array(bytes.utf8)
        #expect(Self.found([all[...]]) { $0.requestFraming } == found)
        #expect(Self.found(all.indices.map { all[$0...$0] }) { $0.requestFraming } == found)
        for split in all.indices {
            #expect(Self.found([all[..<split], all[split...]]) { $0.requestFraming } == found)
        }
    }

    static let answers: [(bytes: String, method: String, found: [String])] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "HEAD", ["HTTP/1.1 200 OK", "[]"]),
        (
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "GET",
            ["HTTP/1.1 304 Not Modified", "[]"]
        ),
        ("HTTP/1.1 204\r\n\r\n", "PUT", ["HTTP/1.1 204", "[]"]),
        ("HTTP/1.1 200 OK\r\n\r\nuntil the end", "GET", ["HTTP/1.1 200 OK", "until the end"]),
        ("HTTP/1.1 2000 OK\r\n\r\n", "GET", ["HTTP/1.1 2000 OK", "unknown"]),
    ]

    @Test(arguments: answers)
    func responseFramingDependsOnTheRequest(bytes: String, method: String, found: [String]) {
        let all = Array(bytes.utf8)
        #expect(Self.found([all[...]]) { $0.answerFraming(to: method) } == found)
        #expect(Self.found(all.indices.map { all[$0...$0] }) { $0.answerFraming(to: method) } == found)
    }
}
