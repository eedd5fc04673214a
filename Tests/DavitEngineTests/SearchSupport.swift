import DavitEngine
import DavitTesting
import Testing

/// Returns a `searchrequest` with a query; `D` is bound to `DAV:`, `x` to `urn:x`, `xs` and `xsi` to the XML
/// Schema namespaces.
func query(
    _ condition: String = "", scope: String = "/", depth: String = "infinity", select: String = "<D:prop/>",
    order: String = "", limit: Int? = nil
) -> String {
    let scopes = scope.split(separator: " ", omittingEmptySubsequences: false).map {
        "<D:scope><D:href>\($0)</D:href><D:depth>\(depth)</D:depth></D:scope>"
    }
    return """
        <D:searchrequest xmlns:D="DAV:" xmlns:x="urn:x" xmlns:xs="http://www.w3.org/2001/XMLSchema" \
        xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><D:basicsearch><D:select>\(select)</D:select>\
        <D:from>\(scopes.joined())</D:from>\(condition.isEmpty ? "" : "<D:where>\(condition)</D:where>")\
        \(order.isEmpty ? "" : "<D:orderby>\(order)</D:orderby>")\
        \(limit.map { "<D:limit><D:nresults>\($0)</D:nresults></D:limit>" } ?? "")\
        </D:basicsearch></D:searchrequest>
        """
}

/// Returns a comparison, or a `like`.
func compare(
    _ name: String, _ property: String, _ literal: String, caseless: Bool? = nil, type: String? = nil
) -> String {
    let attribute = caseless.map { " caseless=\"\($0 ? "yes" : "no")\"" } ?? ""
    let value =
        type.map { "<D:typed-literal xsi:type=\"xs:\($0)\">\(literal)</D:typed-literal>" }
        ?? "<D:literal>\(literal)</D:literal>"
    return "<D:\(name)\(attribute)><D:prop><\(property)/></D:prop>\(value)</D:\(name)>"
}

func ordered(_ property: String, _ rest: String = "", attribute: String = "") -> String {
    "<D:order\(attribute)><D:prop><\(property)/></D:prop>\(rest)</D:order>"
}

/// Returns the hrefs of a multistatus in order, except that of a 507.
func hrefs(in text: String) -> [String] {
    text.split(separator: "<D:response>").dropFirst().filter { !$0.contains("507 Insufficient Storage") }.map
    {
        String($0.split(separator: "</D:href>")[0].dropFirst("<D:href>".count))
    }
}

extension TestShare {
    /// Returns the hrefs found by a query.
    func found(_ body: String, at target: String = "/") async throws -> [String] {
        let answer = try await client.send("SEARCH", target, text: body)
        #expect(answer.status == 207, "\(answer.text)")
        return hrefs(in: answer.text)
    }
}
