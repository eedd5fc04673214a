import DavitWebDAV
import DavitXML
import Testing

struct ErrorBodyTests {
    // RFC 4918 §16.
    static let conditions: [(ErrorBody.Condition, String)] = [
        (.lockTokenMatchesRequestURI, "<D:lock-token-matches-request-uri/>"),
        (
            .lockTokenSubmitted([Array("/a/".utf8), Array("/b&c".utf8)]),
            "<D:lock-token-submitted><D:href>/a/</D:href><D:href>/b%26c</D:href></D:lock-token-submitted>"
        ),
        (
            .noConflictingLock([Array("/a".utf8)]),
            "<D:no-conflicting-lock><D:href>/a</D:href></D:no-conflicting-lock>"
        ),
        (.noConflictingLock([]), "<D:no-conflicting-lock></D:no-conflicting-lock>"),
        (.noExternalEntities, "<D:no-external-entities/>"),
        (.preservedLiveProperties, "<D:preserved-live-properties/>"),
        (.propfindFiniteDepth, "<D:propfind-finite-depth/>"),
        (.supportedReport, "<D:supported-report/>"),
        (.numberOfMatchesWithinLimits, "<D:number-of-matches-within-limits/>"),
        (.cannotModifyProtectedProperty, "<D:cannot-modify-protected-property/>"),
        // RFC 3744 §7.1.1.
        (
            .needPrivileges([.init(href: Array("/a<".utf8), privilege: "bind")]),
            "<D:need-privileges><D:resource><D:href>/a%3C</D:href><D:privilege><D:bind/></D:privilege></D:resource>"
                + "</D:need-privileges>"
        ),
        // RFC 4331 §6.
        (.quotaNotExceeded, "<D:quota-not-exceeded/>"), (.sufficientDiskSpace, "<D:sufficient-disk-space/>"),
    ]

    @Test(arguments: [
        (ErrorBody.Condition.digestMismatch, "digest-mismatch"), (.digestMalformed, "digest-malformed"),
    ])
    func davitConditionsHaveTheirOwnNamespace(condition: ErrorBody.Condition, name: String) throws {
        let error = try XMLDocument.parse(ErrorBody.encode(condition)).root
        #expect(error.namespace == "DAV:" && error.local == "error")
        #expect(error.children.map(\.namespace) == ["urn:davit:condition"])
        #expect(error.children.map(\.local) == [name])
    }

    @Test(arguments: conditions)
    func conditionsAreEncoded(condition: ErrorBody.Condition, element: String) throws {
        let body = ErrorBody.encode(condition)
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"<?xml version="1.0" encoding="utf-8"?><D:error xmlns:D="DAV:">\#(element)</D:error>"#)
        #expect(try XMLDocument.parse(body).root.children.map(\.namespace) == ["DAV:"])
    }

    static let paths: [(String, String)] = [
        ("/a/b", "/a/b"), ("", ""), ("/a&b<c>d\"e'f", "/a%26b%3Cc%3Ed%22e%27f"),
        ("/%26%e9+;=@:!$()*,~", "/%26%e9+;=@:!$()*,~"),
        ("/\u{E9}", "/%C3%A9"), ("/a b\t\0\u{7F}", "/a%20b%09%00%7F"), ("//a//", "//a//"),
        ("/`{|}^\\", "/`{|}^\\"),
    ]

    @Test(arguments: paths)
    func hrefsAreSanitized(path: String, href: String) throws {
        let sanitised = Href.sanitize(Array(path.utf8))
        #expect(String(decoding: sanitised, as: UTF8.self) == href)
        #expect(Href.sanitize(sanitised) == sanitised)
        let document = "<a>" + href + "</a>"
        #expect(try XMLDocument.parse(Array(document.utf8)).root.text == href)
    }

    @Test func everySanitizedByteIsValidInXML() throws {
        for byte in UInt8.min...UInt8.max {
            let href = Href.sanitize([0x2F, byte])
            #expect(href == [0x2F, byte] || href == Array("/%".utf8) + Self.hex(byte))
            let text = try XMLDocument.parse(Array("<a>".utf8) + href + Array("</a>".utf8)).root.text
            #expect(Array(text.utf8) == href)
        }
    }

    static func hex(_ byte: UInt8) -> [UInt8] {
        let digits = String(byte, radix: 16, uppercase: true)
        return Array((digits.count == 1 ? "0" + digits : digits).utf8)
    }
}
