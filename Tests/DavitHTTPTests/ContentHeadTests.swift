import DavitHTTP
import Testing

struct ContentHeadTests {
    static let tag = EntityTag(opaque: Array("1-2-3".utf8))
    static let modified = Timestamp(seconds: 784_111_777)

    static func head(_ name: String, _ configure: (inout ContentResponseSettings) -> Void = { _ in })
        -> ContentHead
    {
        var rules = ContentResponseSettings()
        configure(&rules)
        return ContentHead(tag: tag, modified: modified, name: Array(name.utf8), rules: rules)
    }

    @Test func fieldsDescribeTheContent() {
        let head = Self.head("a.txt")
        #expect(
            String(decoding: head.fields.encoded, as: UTF8.self)
                == "ETag: \"1-2-3\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nAccept-Ranges: bytes\r\n"
                + "X-Content-Type-Options: nosniff\r\nContent-Type: text/plain; charset=utf-8\r\n")
        #expect(String(decoding: head.notModified.encoded, as: UTF8.self) == "ETag: \"1-2-3\"\r\n")
        #expect(!head.negotiatesCoding)
    }

    static let active: [(name: String, isActive: Bool)] = [
        ("a.html", true), ("a.svg", true), ("a.xml", true), ("a.js", false), ("a.txt", false), ("a", false),
        ("a.own", true), ("a.rss", true), ("a.atom", true), ("a.gpx", true), ("a.kml", true),
        ("a.xslt", true),
        ("a.mpd", true), ("a.feed", true), ("a.xsl-text", true), ("a.docx", false),
    ]

    /// Includes XML-based formats: browsers that render them run scripts in embedded XHTML.
    @Test(arguments: active)
    func activeContentIsSandboxed(name: String, isActive: Bool) {
        let types = MediaTypes([
            "own": "Text/HTML", "feed": "Application/X-Feed+XML ; charset=utf-8", "xsl-text": "text/xsl",
        ])
        let shared = Self.head(name) { $0.types = types }
        #expect(shared.fields.first(.contentSecurityPolicy) == (isActive ? "sandbox" : nil))
        let own = Self.head(name) {
            $0.types = types
            $0.sandboxesActiveContent = false
        }
        #expect(own.fields.first(.contentSecurityPolicy) == nil)
    }

    static let negotiated: [(name: String, isNegotiated: Bool)] = [
        ("a.html", true), ("a.svg", true), ("a.json", true), ("a.png", false), ("a.gz", false), ("a", false),
        ("a.own", true),
    ]

    /// RFC 9110 §12.5.5
    @Test(arguments: negotiated)
    func negotiatedContentVaries(name: String, isNegotiated: Bool) {
        let head = Self.head(name) {
            $0.types = MediaTypes(["own": "text/x-own"])
            $0.negotiatesCoding = true
        }
        #expect(head.negotiatesCoding == isNegotiated)
        #expect(head.fields.first(.vary) == (isNegotiated ? "Accept-Encoding" : nil))
        #expect(head.notModified.first(.vary) == (isNegotiated ? "Accept-Encoding" : nil))
    }

    /// RFC 9110 §8.8.3.3: a representation with a content coding has its own entity tag.
    @Test func codedRepresentationHasItsOwnTag() {
        let plain = Self.head("a.html") {
            $0.negotiatesCoding = true
            $0.cacheAgeSeconds = 60
        }
        let file = ContentHead(
            tag: EntityTag(opaque: Array("4-5-6".utf8)), modified: Timestamp(seconds: 784_111_999),
            name: Array("a.html.gz".utf8), rules: ContentResponseSettings())
        let coded = file.asForm(of: plain)
        #expect(coded.fields.first(.etag) == "\"1-2-3-gzip-4-5-6\"")
        #expect(coded.notModified.first(.etag) == "\"1-2-3-gzip-4-5-6\"")
        #expect(coded.fields.first(.contentEncoding) == "gzip")
        #expect(coded.fields.first(.contentType) == "text/html; charset=utf-8")
        #expect(coded.fields.first(.lastModified) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(coded.fields.first(.cacheControl) == "max-age=60")
        #expect(coded.notModified.first(.contentEncoding) == nil)
        #expect(coded.isCoded && coded.tag.isCoded && !plain.isCoded && !plain.tag.isCoded)
        #expect(coded.tag.plain == plain.tag)
        #expect(plain.tag.plain == plain.tag)
        #expect(file.asForm(of: plain) === coded)
        let later = ContentHead(
            tag: EntityTag(opaque: Array("7".utf8)), modified: Self.modified, name: Array("a.html".utf8),
            rules: ContentResponseSettings())
        #expect(file.asForm(of: later).fields.first(.etag) == "\"7-gzip-4-5-6\"")
    }
}
