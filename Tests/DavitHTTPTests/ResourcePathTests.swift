import DavitHTTP
import Testing

struct ResourcePathTests {
    static let containment: [(outer: String, inner: String, isContained: Bool)] = [
        ("", "a", true), ("a", "a", true), ("a", "a/b", true), ("a", "ab", false), ("a/b", "a", false),
    ]

    @Test(arguments: containment)
    func pathContainsItselfAndItsDescendants(outer: String, inner: String, isContained: Bool) throws {
        let paths = try [outer, inner].map { text in
            try #require(ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/"))))
        }
        #expect(paths[0].contains(paths[1]) == isContained)
    }

    @Test(arguments: ["", ".", "..", "a/b", "a\0"])
    func invalidSegmentsAreRefused(name: String) {
        #expect(ResourcePath.root.appending(Array(name.utf8)) == nil)
    }
}
