import DavitWebDAV
import Testing

/// The type of a REPORT, determined by its root element, and hrefs in property values.
struct ReportBodyTests {
    static func expand(_ inside: String) -> String {
        "<e:expand-property xmlns:e='DAV:' xmlns:x='urn:x'>\(inside)</e:expand-property>"
    }

    static func property(_ local: String, _ namespace: String = "DAV:", _ nested: ExpandedProperty...)
        -> ExpandedProperty
    {
        ExpandedProperty(name: PropertyName(namespace: namespace, local: local), nested: nested)
    }

    static let bodies: [(body: String, report: ReportBody)] = [
        (expand(""), .expandProperty([])),
        (
            expand("<e:property name='a'/><e:property name='b' namespace='urn:y'/>"),
            .expandProperty([property("a"), property("b", "urn:y")])
        ),
        (
            expand(
                "<e:property name='a'><e:property name='b'><e:property name='c'/></e:property></e:property>"),
            .expandProperty([property("a", "DAV:", property("b", "DAV:", property("c")))])
        ),
        // Only the first of two properties with the same name is used, and unknown elements are ignored (RFC
        // 4918 §17).
        (
            expand("<e:property name='a'><e:property name='b'/></e:property><e:property name='a'/><x:y/>"),
            .expandProperty([property("a", "DAV:", property("b"))])
        ),
        (expand("<e:property name='a' namespace=''/>"), .expandProperty([property("a", "")])),
        ("<a/>", .unknown(PropertyName(namespace: "", local: "a"))),
        (
            "<sync-collection xmlns='urn:x'/>",
            .unknown(PropertyName(namespace: "urn:x", local: "sync-collection"))
        ),
    ]

    @Test(arguments: bodies)
    func reportsAreParsed(_ row: (body: String, report: ReportBody)) throws {
        #expect(try ReportBody.parse(Array(row.body.utf8)) == row.report)
    }

    static let refused: [(body: String, error: BodyError)] = [
        ("", .malformed(line: 1)), ("<a", .malformed(line: 1)),
        (expand("<e:property/>"), .malformed(line: 1)),
        (expand("<e:property name=''/>"), .malformed(line: 1)),
        (expand("<e:property x:name='a'/>"), .malformed(line: 1)),
        (expand("\n<e:property name='a'><e:property/></e:property>"), .malformed(line: 2)),
        (
            "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>",
            .externalEntity(line: 1)
        ),
    ]

    @Test(arguments: refused)
    func invalidBodiesAreRefused(_ row: (body: String, error: BodyError)) {
        #expect(throws: row.error) { try ReportBody.parse(Array(row.body.utf8)) }
    }

    @Test func nestedPropertiesCountTowardTheLimit() throws {
        var limits = BodyLimits()
        limits.properties = 3
        let three = "<e:property name='a'><e:property name='b'/></e:property><e:property name='c'/>"
        #expect(throws: Never.self) { try ReportBody.parse(Array(Self.expand(three).utf8), limits: limits) }
        #expect(throws: BodyError.malformed(line: 1)) {
            try ReportBody.parse(Array(Self.expand(three + "<e:property name='d'/>").utf8), limits: limits)
        }
    }

    static let values: [(value: String, result: String)] = [
        ("<p/>", #"<p xmlns=""/>"#),
        (
            "<D:p xmlns:D='DAV:'>a<D:href> /x </D:href>b</D:p>",
            #"<D:p xmlns:D="DAV:">a<E:r xmlns:E="urn:r">/x</E:r>b</D:p>"#
        ),
        // Hrefs are replaced at any depth, but not in other namespaces.
        (
            "<p><q xmlns:D='DAV:'><D:href>/x</D:href></q><href>/x</href></p>",
            #"<p xmlns=""><q xmlns:D="DAV:"><E:r xmlns:E="urn:r">/x</E:r></q><href>/x</href></p>"#
        ),
        (
            "<p xmlns:D='DAV:'><D:href>urn:y</D:href></p>",
            #"<p xmlns:D="DAV:" xmlns=""><D:href>urn:y</D:href></p>"#
        ),
    ]

    @Test(arguments: values)
    func hrefsAreReplaced(_ row: (value: String, result: String)) throws {
        let value = PropertyValue.replacingHrefs(in: Array("<root>\(row.value)</root>".utf8)) { href in
            href == "/x" ? Array("<m xmlns:E='urn:r'><E:r>/x</E:r></m>".utf8) : nil
        }
        #expect(value.map { String(decoding: $0.element, as: UTF8.self) } == row.result)
    }

    @Test func unreadableDocumentsHaveNoValue() {
        for document in ["", "<a>", "<a/>"] {
            #expect(PropertyValue.replacingHrefs(in: Array(document.utf8)) { _ in nil } == nil)
        }
        let value = "<a><p xmlns:D='DAV:'><D:href>/x</D:href></p></a>"
        #expect(PropertyValue.replacingHrefs(in: Array(value.utf8)) { _ in [] } == nil)
    }
}
