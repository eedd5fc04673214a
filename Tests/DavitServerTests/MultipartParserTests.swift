import DavitHTTP
import DavitServer
import DavitTesting
import Testing

struct MultipartParserTests {
    static let d = "Content-Disposition: form-data; name="

    static let forms: [(form: String, parts: [String])] = [
        // RFC 2046 §5.1.1
        ("--b\r\n\(d)a\r\n\r\n1\r\n--b--", ["a: 1"]), ("--b\r\n\(d)a\r\n\r\n1\r\n--b--\r\n", ["a: 1"]),
        ("--b\r\n\(d)a\r\n\r\n\r\n--b--\r\n", ["a: "]), ("--b--", []), ("--b--\r\n", []),
        // The CRLF before a delimiter belongs to the delimiter; all others belong to the part.
        ("--b\r\n\(d)a\r\n\r\n\r\n1\r\n\r\n--b--", ["a: \r\n1\r\n"]),
        // Preamble and epilogue are not content.
        ("not --b\r\n--b\r\n\(d)a\r\n\r\n1\r\n--b--\r\n--b\r\nwhat follows", ["a: 1"]),
        ("\r\n--b\r\n\(d)a\r\n\r\n1\r\n--b--", ["a: 1"]),
        // White space after the boundary.
        ("--b \t\r\n\(d)a\r\n\r\n1\r\n--b \r\n\(d)c\r\n\r\n2\r\n--b-- \r\n", ["a: 1", "c: 2"]),
        // A part without content may end with its header.
        ("--b\r\n\(d)a\r\n\r\n--b\r\n\(d)c\r\n\r\n--b--", ["a: ", "c: "]),
        // Text that begins like a delimiter.
        (
            "--b\r\n\(d)a\r\n\r\n1\r\n--bx\r\n--b-\r\n-\r\n--\r\n--c\n--b\r--b\r\n--b--",
            ["a: 1\r\n--bx\r\n--b-\r\n-\r\n--\r\n--c\n--b\r--b"]
        ),
        ("--b\r\n\(d)a\r\n\r\n\r\n\r\r\n--b--", ["a: \r\n\r"]),
        ("--b\r\n\(d)a\r\n\r\n--bx\r\n--b--", ["a: --bx"]),
        // RFC 7578 §4.2, §4.4: names in the order sent, possibly repeated.
        (
            "--b\r\n\(d)\"a\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\n1\r\n"
                + "--b\r\ncontent-disposition:form-data;name=a\r\nX-Other: y\r\n\r\n2\r\n--b--",
            ["a (x.txt): 1", "a: 2"]
        ),
        // A folded line (RFC 5322 §2.2.3).
        ("--b\r\nContent-Disposition: form-data;\r\n\tname=a\r\n\r\n1\r\n--b--", ["a: 1"]),
        // RFC 7578 §4.7: encodings that leave the content unchanged.
        ("--b\r\n\(d)a\r\nContent-Transfer-Encoding: 8BIT\r\n\r\n1\r\n--b--", ["a: 1"]),
        // §4.3, RFC 2388 §4.2: several files of one control.
        (
            "--b\r\n\(d)f\r\nContent-Type: multipart/mixed; boundary=bb\r\n\r\npreamble\r\n"
                + "--bb\r\nContent-Disposition: file; filename=\"x\"\r\n\r\n1\r\n--b\r\n"
                + "--bb\r\nContent-Disposition: attachment; filename=y\r\n\r\n2\r\n--bb--\r\nepilogue\r\n"
                + "--b\r\n\(d)c\r\n\r\n3\r\n--b--", ["f (x): 1\r\n--b", "f (y): 2", "c: 3"]
        ),
        // A nested part needs no header fields.
        (
            "--b\r\n\(d)f\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\n\r\n1\r\n--i--\r\n--b--",
            ["f: 1"]
        ),
        // Only one level is parsed; deeper levels are content.
        (
            "--b\r\n\(d)f\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\n"
                + "Content-Disposition: file; filename=x\r\nContent-Type: multipart/mixed; boundary=j\r\n\r\n--j--\r\n"
                + "--i--\r\n--b--", ["f (x): --j--"]
        ),
    ]

    @Test(arguments: forms)
    func allPartsAreFound(form: String, parts: [String]) {
        let whole = MultipartFeed().parse(form)
        #expect(whole.parts.map(\.description) == parts)
        #expect(whole.error == nil)
        #expect(MultipartFeed().byteByByte(form) == whole)
        for offset in 0...form.utf8.count { #expect(MultipartFeed().split(form, at: offset) == whole) }
    }

    static let malformed: [(form: String, error: MultipartError)] = [
        ("", .truncated(offset: 0)), ("--b", .truncated(offset: 3)), ("abc", .truncated(offset: 3)),
        ("--b\r\n\(d)a\r\n\r\n1", .truncated(offset: 48)),
        ("--b\r\n\(d)a\r\n\r\n1\r\n--b", .truncated(offset: 53)),
        ("--b\r\n\(d)a\r\n\r\n1\r\n--b-", .truncated(offset: 54)), ("--b\r\n\(d)a", .truncated(offset: 43)),
        // Delimiters and headers with lines that end in a bare LF.
        ("--b \n\(d)a\r\n\r\n1\r\n--b--", .malformed(offset: 4)), ("--b\r\r\n", .malformed(offset: 3)),
        ("--b\r\n\(d)a\nX: y\r\n\r\n1\r\n--b--", .malformed(offset: 43)),
        // Missing names, and missing, malformed and repeated dispositions.
        ("--b\r\nContent-Disposition: form-data\r\n\r\n1\r\n--b--", .malformed(offset: 5)),
        ("--b\r\n\r\n1\r\n--b--", .malformed(offset: 5)),
        ("--b\r\n\(d)\"a\r\n\r\n1\r\n--b--", .malformed(offset: 5)),
        ("--b\r\n\(d)a\r\n\(d)a\r\n\r\n1\r\n--b--", .malformed(offset: 5)),
        ("--b\r\nno colon\r\n\r\n1\r\n--b--", .malformed(offset: 5)),
        ("--b\r\n folded: a\r\n\r\n--b--", .malformed(offset: 5)),
        ("--b\r\n\(d)a\r\nContent-Type: text\r\n\r\n1\r\n--b--", .malformed(offset: 5)),
        ("--b\r\n\(d)a\r\nContent-Type: multipart/mixed\r\n\r\n1\r\n--b--", .malformed(offset: 5)),
        // Unterminated nested parts consume the outer delimiters.
        (
            "--b\r\n\(d)f\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\n\r\n1\r\n--b--",
            .truncated(offset: 105)
        ),
        // RFC 7578 §4.7
        ("--b\r\n\(d)a\r\nContent-Transfer-Encoding: base64\r\n\r\n1\r\n--b--", .transferEncoding(offset: 5)),
    ]

    @Test(arguments: malformed)
    func errorReportsTheByteOffset(form: String, error: MultipartError) {
        #expect(MultipartFeed().parse(form).error == error)
        #expect(MultipartFeed().byteByByte(form).error == error)
    }

    @Test func partsAreLimited() {
        var limits = MultipartLimits()
        limits.parts = 2
        limits.partHeadBytes = 60
        let feed = MultipartFeed(limits: limits)
        let part = "--b\r\n\(Self.d)a\r\n\r\n1\r\n"
        #expect(feed.parse(part + part + "--b--").parts.count == 2)
        #expect(feed.parse(part + part + part + "--b--").error == .tooManyParts(limit: 2))
        let fields = "\(Self.d)a\r\nX: \r\n"
        for (bytes, error) in [(60, nil), (61, .headTooLarge(limit: 60))] as [(Int, MultipartError?)] {
            let field = "X: " + String(repeating: "y", count: bytes - fields.utf8.count)
            let form = "--b\r\n\(fields.replacing("X: ", with: field))\r\n1\r\n--b--"
            #expect(feed.parse(form).error == error)
        }
        // A header is rejected as soon as it is too long, not only at its end.
        #expect(
            feed.byteByByte("--b\r\n" + String(repeating: "y", count: 100)).error == .headTooLarge(limit: 60))
    }

    static let boundaries: [(String, Bool)] = [
        ("", false), ("a", true), (String(repeating: "a", count: 70), true),
        (String(repeating: "a", count: 71), false),
        ("a b", true), ("a ", false), ("a\r\n", false), ("----WebKitFormBoundary7MA4YWxkTrZu0gW", true),
        ("'()+_,-./:=?", true),
    ]

    // RFC 2046 §5.1.1
    @Test(arguments: boundaries)
    func boundariesAreValidated(boundary: String, isValid: Bool) {
        let form = "--\(boundary)\r\n\(Self.d)a\r\n\r\n--\(boundary.dropLast())\r\n--\(boundary)--"
        let outcome = MultipartFeed(boundary: boundary).parse(form)
        #expect((outcome.error == nil) == isValid)
        if isValid { #expect(outcome.parts.map(\.description) == ["a: --\(boundary.dropLast())"]) }
    }

    /// Content that resembles delimiters is split in all ways, and the result is compared with a naive
    /// search.
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func delimitersMatchANaiveSearch(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = ["\r", "\n", "\r\n", "-", "--", "\r\n--", "\r\n--aba", "aba", "ab", "\r\n--abab", "x"]
        for _ in 0..<300 {
            let content = (0..<12).map { _ in pieces.randomElement(using: &random) ?? "" }.joined() + "x"
            let form = Array("--abab\r\n\(Self.d)a\r\n\r\n\(content)\r\n--abab--".utf8)
            let feed = MultipartFeed(boundary: "abab")
            let cuts = (0..<3).map { _ in Int.random(in: 0...form.count, using: &random) }.sorted()
            let outcome = feed.parse([
                Array(form[..<cuts[0]]), Array(form[cuts[0]..<cuts[1]]), Array(form[cuts[1]..<cuts[2]]),
                Array(form[cuts[2]...]),
            ])
            #expect(outcome == feed.parse([form]))
            if !Self.holdsDelimiter(Array(content.utf8), "abab") {
                #expect(outcome.parts.map(\.bytes) == [Array(content.utf8)])
            } else {
                #expect(outcome.parts.first?.bytes != Array(content.utf8))
            }
        }
    }

    private static func holdsDelimiter(_ content: [UInt8], _ boundary: String) -> Bool {
        // The empty line before the content may be the CRLF of a delimiter.
        let content = [13, 10] + content
        let text = Array("\r\n--\(boundary)".utf8)
        return content.indices.contains { start in
            let rest = content[start...].dropFirst(text.count)
            guard content[start...].starts(with: text), let next = rest.first else { return false }
            return next == 13 || next == 9 || next == 32 || rest.starts(with: Array("--".utf8))
        }
    }

    @Test func atMostADelimiterIsBuffered() {
        let content = String(repeating: "\r\n--b\r\r\n--", count: 500).replacing("--b", with: "--bx")
        let form = "--b\r\n\(Self.d)a\r\n\r\n\(content)\r\n--b--"
        for size in [1, 3, 64] {
            let bytes = Array(form.utf8)
            let pieces = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            let outcome = MultipartFeed().parse(pieces)
            #expect(outcome.parts.map(\.bytes) == [Array(content.utf8)])
            #expect(outcome.mostKept <= 50)
        }
    }
}
