import DavitEngine
import DavitTesting
import Testing

/// Refused queries: the status, and the condition of RFC 5323 §2.4.
struct SearchRefusalTests {
    static let refused: [(body: String, status: UInt16)] = [
        // Documents that are not well-formed, or lack required elements (RFC 4918 §8.2).
        ("", 400), ("<", 400), ("text", 400), ("<D:searchrequest xmlns:D='DAV:'>", 400),
        ("<D:searchrequest xmlns:D='DAV:'/>", 400), ("<D:query-schema-discovery xmlns:D='DAV:'/>", 400),
        ("<D:searchrequest xmlns:D='DAV:'><D:basicsearch/></D:searchrequest>", 400),
        (query().replacing("select>", with: "choose>"), 400), (query().replacing("from>", with: "of>"), 400),
        (query(select: ""), 400), (query(select: "<D:propname/>"), 400),
        (query(select: "<D:prop/><D:allprop/>"), 400),
        (query().replacing("<D:depth>infinity</D:depth>", with: ""), 400), (query(depth: "2"), 400),
        (query(depth: ""), 400),
        (query().replacing("D:href", with: "D:h"), 400), (query().replacing("D:scope", with: "D:s"), 400),
        (query("<!-- nothing -->"), 400), (query("<D:is-collection/><D:is-collection/>"), 400),
        (query("<D:and/>"), 400), (query("<D:or/>"), 400), (query("<D:not/>"), 400),
        (query("<D:not><D:is-collection/><D:is-collection/></D:not>"), 400),
        (query("<D:eq/>"), 400), (query("<D:eq><D:prop><x:a/></D:prop></D:eq>"), 400),
        (query("<D:eq><D:literal>a</D:literal></D:eq>"), 400),
        (query("<D:eq><D:prop><x:a/><x:b/></D:prop><D:literal/></D:eq>"), 400),
        (query("<D:eq><D:prop/><D:literal/></D:eq>"), 400),
        (query("<D:eq><D:prop><x:a/></D:prop><D:literal/><D:literal/></D:eq>"), 400),
        (query("<D:eq><D:prop><x:a/></D:prop><D:literal/><D:typed-literal/></D:eq>"), 400),
        (query("<D:like><D:prop><x:a/></D:prop><D:typed-literal>a</D:typed-literal></D:like>"), 400),
        (query("<D:is-defined/>"), 400), (query("<D:is-defined><D:prop/></D:is-defined>"), 400),
        (query("<D:eq caseless='maybe'><D:prop><x:a/></D:prop><D:literal/></D:eq>"), 400),
        (query(order: "<D:ascending/>"), 400), (query(order: "<D:order/>"), 400),
        (query(order: ordered("x:a") + "<D:order/>"), 400),
        (query(order: ordered("x:a", "<D:ascending/><D:descending/>")), 400),
        (query(limit: -1), 400), (query(limit: 1).replacing(">1<", with: "><"), 400),
        (query(limit: 1).replacing(">1<", with: ">many<"), 400),
        // §2.2.2: documents of another type.
        ("<D:propfind xmlns:D='DAV:'><D:allprop/></D:propfind>", 422), ("<searchrequest/>", 422),
        // §5.5.2: unknown operators.
        (query("<D:contains>text</D:contains>"), 422), (query("<D:near/>"), 422), (query("<x:eq/>"), 422),
        (query("<D:not><D:contains>text</D:contains></D:not>"), 422),
        (query(order: "<D:order><D:score/></D:order>"), 422),
        (query(compare("like", "x:a", "a\\b")), 422), (query(compare("like", "x:a", "a\\")), 422),
        (query(compare("like", "x:a", String(repeating: "_", count: 1025))), 422),
        (query(compare("eq", "x:a", "1", type: "duration")), 422),
        (query(compare("eq", "x:a", "1", type: "int").replacing("xs:int", with: "x:int")), 422),
        (query(compare("eq", "x:a", "1", type: "int").replacing("xs:int", with: "a:b:int")), 422),
        // Queries above the limits.
        (query("<D:and>\(String(repeating: "<D:is-collection/>", count: 256))</D:and>"), 422),
        (query(scope: Array(repeating: "/", count: 65).joined(separator: " ")), 422),
        (query(order: String(repeating: ordered("x:a"), count: 257)), 422),
        (
            query(
                String(repeating: "<D:not>", count: 70) + "<D:is-collection/>"
                    + String(repeating: "</D:not>", count: 70)), 400
        ),
        (query(compare("eq", "x:a", String(repeating: "a", count: 1 << 20))), 413),
        // RFC 4918 §17, §20.6: documents with a DOCTYPE.
        ("<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]>" + query(), 403),
    ]

    @Test(arguments: refused)
    func invalidQueriesAreRefused(body: String, status: UInt16) async throws {
        let share = try TestShare()
        #expect(try await share.client.send("SEARCH", "/", text: body).status == status)
    }

    /// The limits of depth and size are inclusive.
    @Test(arguments: [
        query("<D:and>\(String(repeating: "<D:is-collection/>", count: 255))</D:and>"),
        query(
            String(repeating: "<D:not>", count: 50) + "<D:is-collection/>"
                + String(repeating: "</D:not>", count: 50)),
        query(compare("like", "D:displayname", "%" + String(repeating: "a", count: 1023))),
        query(limit: 1).replacing(">1<", with: "> 99999999999999999999999 <"),
        // RFC 4918 §17: unknown elements are ignored.
        query().replacing("<D:from>", with: "<x:more/><D:from a='b'>"),
    ])
    func answers(body: String) async throws {
        let share = try TestShare()
        #expect(try await share.client.send("SEARCH", "/", text: body).status == 207)
    }

    @Test(arguments: ["<x:sql xmlns:x='urn:x'/>", "<D:xpath/>"])
    func onlyBasicSearchIsSupported(grammar: String) async throws {
        let share = try TestShare()
        let answer = try await share.client.send(
            "SEARCH", "/", text: "<D:searchrequest xmlns:D='DAV:'>\(grammar)</D:searchrequest>")
        #expect(answer.status == 403)
        #expect(answer.text.contains("<D:error xmlns:D=\"DAV:\"><D:search-grammar-supported/></D:error>"))
    }
}
