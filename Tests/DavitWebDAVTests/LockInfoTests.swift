import DavitWebDAV
import Testing

struct LockInfoTests {
    static func info(_ inside: String) -> String { "<D:lockinfo xmlns:D='DAV:'>\(inside)</D:lockinfo>" }

    static let exclusive = "<D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>"

    static let wellFormed: [(String, LockScope, owner: String?)] = [
        (info(exclusive), .exclusive, nil),
        (info("<D:locktype><D:write/></D:locktype><D:lockscope><D:shared/></D:lockscope>"), .shared, nil),
        // RFC 4918 §14.17: the owner is stored as the client sent it.
        (info(exclusive + "<D:owner/>"), .exclusive, "<D:owner xmlns:D=\"DAV:\"/>"),
        (
            info(exclusive + "<D:owner>davfs2 1.6.1</D:owner>"), .exclusive,
            "<D:owner xmlns:D=\"DAV:\">davfs2 1.6.1</D:owner>"
        ),
        (
            "<lockinfo xmlns='DAV:' xml:lang='en'><lockscope><exclusive/></lockscope><locktype><write/></locktype>"
                + "<owner>\n <href>mailto:a@b</href><x:y xmlns:x='urn:x'/></owner></lockinfo>",
            .exclusive,
            "<owner xmlns=\"DAV:\" xml:lang=\"en\">\n <href>mailto:a@b</href><x:y xmlns:x=\"urn:x\"/></owner>"
        ),
        // RFC 4918 §17: unknown elements are ignored.
        (
            info("<x/><D:lockscope><x/><D:shared/></D:lockscope><D:locktype><x/><D:write/></D:locktype>"),
            .shared, nil
        ),
    ]

    @Test(arguments: wellFormed)
    func lockInfoIsParsed(body: String, scope: LockScope, owner: String?) throws {
        let info = try LockInfo.parse(Array(body.utf8))
        #expect(info.scope == scope)
        #expect(info.owner.map { String(decoding: $0.element, as: UTF8.self) } == owner)
    }

    static let refused: [(String, BodyError)] = [
        ("", .malformed(line: 1)),
        (info(""), .malformed(line: 1)),
        (info("<D:lockscope><D:exclusive/></D:lockscope>"), .malformed(line: 1)),
        (info("<D:locktype><D:write/></D:locktype>"), .malformed(line: 1)),
        (info("<D:lockscope/><D:locktype><D:write/></D:locktype>"), .notThis(line: 1)),
        (
            info("<D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:read/></D:locktype>"),
            .notThis(line: 1)
        ),
        (
            info("<D:lockscope><D:exclusive/><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype>"),
            .malformed(line: 1)
        ),
        (info(exclusive + "\n<D:lockscope><D:shared/></D:lockscope>"), .malformed(line: 2)),
        (info(exclusive + "<D:owner/>\n<D:owner/>"), .malformed(line: 2)),
        ("<lockinfo/>", .notThis(line: 1)),
        ("<!DOCTYPE a SYSTEM 'b'>" + info(exclusive), .externalEntity(line: 1)),
    ]

    @Test(arguments: refused)
    func invalidBodiesAreRefused(body: String, error: BodyError) {
        #expect(throws: error) { try LockInfo.parse(Array(body.utf8)) }
    }
}
