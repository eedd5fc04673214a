import DavitEngine
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// XML bodies in encodings other than UTF-8, for every method with an XML body.
struct BodyEncodingTests {
    struct Encoding: Sendable, CustomTestStringConvertible {
        let name: String
        /// The XML declaration, which precedes the document; may be empty.
        let declaration: String
        let contentType: String
        let encode: @Sendable (String) -> [UInt8]
        var testDescription: String { "\(name), \(contentType)" }
    }

    static func utf16(_ text: String, isBig: Bool) -> [UInt8] {
        text.utf16.flatMap {
            isBig ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)]
        }
    }

    static func latin1(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    static let encodings: [Encoding] = [
        Encoding(
            name: "ISO-8859-1", declaration: "<?xml version='1.0' encoding='ISO-8859-1'?>",
            contentType: "application/xml",
            encode: latin1),
        Encoding(
            name: "ISO-8859-1 by media type", declaration: "<?xml version='1.0' encoding='utf-8'?>",
            contentType: "text/xml; charset=\"iso-8859-1\"", encode: latin1),
        Encoding(
            name: "UTF-8 by media type", declaration: "<?xml version='1.0' encoding='ISO-8859-1'?>",
            contentType: "Text/XML;charset=UTF-8", encode: { Array($0.utf8) }),
        Encoding(
            name: "UTF-8, with parameters of a non-XML type", declaration: "",
            contentType: "text/plain; charset=iso-8859-1", encode: { Array($0.utf8) }),
        Encoding(
            name: "UTF-16 with a byte order mark", declaration: "<?xml version='1.0' encoding='UTF-16'?>",
            contentType: "application/xml; charset=iso-8859-1",
            encode: { utf16("\u{FEFF}" + $0, isBig: false) }),
        Encoding(
            name: "UTF-16BE with a byte order mark", declaration: "<?xml version='1.0' encoding='UTF-16'?>",
            contentType: "application/xml", encode: { utf16("\u{FEFF}" + $0, isBig: true) }),
        Encoding(
            name: "UTF-16 by media type", declaration: "", contentType: "application/xml; charset=utf-16le",
            encode: { utf16($0, isBig: false) }),
    ]

    static let property = "<x:p xmlns:x=\"urn:x\">caf\u{E9}</x:p>"
    static let update =
        "<D:propertyupdate xmlns:D=\"DAV:\"><D:set><D:prop>\(property)</D:prop></D:set></D:propertyupdate>"
    static let find =
        "<D:propfind xmlns:D=\"DAV:\"><D:prop><x:caf\u{E9} xmlns:x=\"urn:x\"/></D:prop></D:propfind>"
    static let lockInfo = """
        <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>\
        <D:owner>Ren\u{E9}</D:owner></D:lockinfo>
        """
    static let expand = """
        <D:expand-property xmlns:D="DAV:"><D:property name="p" namespace="urn:x"/><D:property name="caf\u{E9}" \
        namespace="urn:x"/></D:expand-property>
        """
    static let mkcol = """
        <D:mkcol xmlns:D="DAV:"><D:set><D:prop><D:resourcetype><D:collection/></D:resourcetype>\(property)</D:prop></D:set>\
        </D:mkcol>
        """
    static let search = """
        <D:searchrequest xmlns:D="DAV:"><D:basicsearch><D:select><D:prop><D:getetag/></D:prop></D:select><D:from><D:scope>\
        <D:href>/</D:href><D:depth>1</D:depth></D:scope></D:from><D:where><D:eq><D:prop><x:p xmlns:x="urn:x"/></D:prop>\
        <D:literal>caf\u{E9}</D:literal></D:eq></D:where></D:basicsearch></D:searchrequest>
        """

    /// Sends bodies byte by byte so that code units and surrogate pairs are split at every position.
    @Test(arguments: encodings)
    func everyMethodDecodesItsBody(_ encoding: Encoding) async throws {
        let share = try TestShare()
        func send(_ line: String, _ body: String, depth: String = "0") async throws -> (
            status: Int, text: String
        ) {
            let parts = line.split(separator: " ").map(String.init)
            let response = try await share.client.send(
                parts[0], parts[1], [("Depth", depth), ("Content-Type", encoding.contentType)],
                body: SentBody(encoding.encode(encoding.declaration + body), pieceLength: 1))
            return (Int(response.status), response.text)
        }
        #expect(try await share.client.send("PUT", "/a", text: "1").status == 201)
        #expect(try await send("PROPPATCH /a", Self.update).status == 207)
        // Values are returned in UTF-8, whatever the encoding of the request.
        let all = try await share.client.send("PROPFIND", "/a", [("Depth", "0")])
        #expect(all.text.contains(Self.property))
        let found = try await send("PROPFIND /a", Self.find)
        #expect(
            found.status == 207 && found.text.contains("caf\u{E9} xmlns")
                && found.text.contains("HTTP/1.1 404"))
        let reported = try await send("REPORT /a", Self.expand)
        #expect(reported.status == 207 && reported.text.contains(Self.property))
        let searched = try await send("SEARCH /", Self.search)
        #expect(searched.status == 207 && searched.text.contains("<D:href>/a</D:href>"))
        // Only MKCOL checks the media type of its body (RFC 5689 §3).
        let takesType = !encoding.contentType.hasPrefix("text/plain")
        #expect(try await send("MKCOL /d", Self.mkcol).status == (takesType ? 201 : 415))
        let made = try await share.client.send("PROPFIND", "/d", [("Depth", "0")])
        #expect(made.text.contains(Self.property) == takesType)
        let locked = try await send("LOCK /a", Self.lockInfo)
        #expect(locked.status == 200 && locked.text.contains("Ren\u{E9}"))
    }

    static let refused: [(contentType: String, declaration: String, status: Int)] = [
        ("application/xml", "<?xml version='1.0' encoding='bogus'?>", 400),
        ("application/xml; charset=utf-8", "<?xml version='1.0' encoding='bogus'?>", 400),
        ("application/xml", "<?xml version='1.0' encoding='utf-7'?>", 400),
        ("application/xml; charset=bogus", "", 415),
        ("text/xml; charset=utf-7", "<?xml version='1.0' encoding='utf-8'?>", 415),
        ("application/dav+xml; charset=bogus", "", 415),
    ]

    @Test(arguments: refused)
    func unknownEncodingsAreRefused(contentType: String, declaration: String, status: Int) async throws {
        let share = try TestShare()
        #expect(try await share.client.send("PUT", "/a", text: "1").status == 201)
        let requests = [
            ("PROPFIND", "/a", Self.find), ("PROPPATCH", "/a", Self.update), ("LOCK", "/a", Self.lockInfo),
            ("REPORT", "/a", Self.expand), ("SEARCH", "/", Self.search),
        ]
        for (method, target, body) in requests {
            // Send each request twice, because parsed PROPFIND bodies are cached.
            for _ in 1...2 {
                let response = try await share.client.send(
                    method, target, [("Depth", "0"), ("Content-Type", contentType)], text: declaration + body)
                #expect(response.status == status, "\(method)")
            }
        }
        let made = try await share.client.send(
            "MKCOL", "/d", [("Content-Type", contentType)], text: declaration + Self.mkcol)
        #expect(made.status == (contentType.contains("dav+xml") ? 415 : status))
    }

    /// Requests with the same bytes but different encodings must not share a cached body.
    @Test func cachedBodiesAreSeparateForEachEncoding() async throws {
        let share = try TestShare()
        let body = "<D:propfind xmlns:D=\"DAV:\"><D:prop><caf\u{C3}/></D:prop></D:propfind>"
        for _ in 1...2 {
            for (charset, name) in [
                ("utf-8", "<caf\u{C3} "), ("iso-8859-15", ""), ("windows-1252", "<caf\u{C3}\u{192} "),
            ] {
                let response = try await share.client.send(
                    "PROPFIND", "/", [("Depth", "0"), ("Content-Type", "text/xml; charset=\(charset)")],
                    text: body)
                #expect(response.status == (name.isEmpty ? 415 : 207))
                #expect(name.isEmpty || response.text.contains(name), "\(response.text)")
            }
        }
    }
}
