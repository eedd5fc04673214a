import DavitWebDAV
import DavitXML

/// Request bodies in XML: PROPPATCH, SEARCH and the others. A property value that is accepted is a document of its own
/// that serialises to the same bytes again, so that it means the same wherever it is returned (RFC 4918 §4.3).
func fuzzXML(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    switch choice % 6 {
    case 0, 1:
        guard let update = try? PropertyUpdate.parse(bytes) else { return }
        invariant(!update.instructions.isEmpty, "something to change")
        for case .set(let name, let value) in update.instructions { check(value, name) }
    case 2, 3:
        guard case .query(let query)? = try? SearchRequest.parse(bytes) else { return }
        invariant(!query.scopes.isEmpty, "a scope")
    case 4:
        _ = try? PropFindBody.parse(bytes)
        _ = try? LockInfo.parse(bytes)
    default:
        _ = try? ReportBody.parse(bytes)
        _ = try? MkColBody.parse(bytes)
    }
}

private func check(_ value: PropertyValue, _ name: PropertyName) {
    // A prefix that the value does not mention: else the value would repeat its declaration.
    var prefix = "D"
    while value.element.contains(Array("\(prefix):".utf8)) { prefix += "D" }
    let (start, end) = (
        "<\(prefix):propertyupdate xmlns:\(prefix)='DAV:'><\(prefix):set><\(prefix):prop>",
        "</\(prefix):prop></\(prefix):set></\(prefix):propertyupdate>"
    )
    let update = Array(start.utf8) + value.element + Array(end.utf8)
    guard let again = try? PropertyUpdate.parse(update) else {
        // Declarations that the value repeats can take it over a limit.
        return
    }
    invariant(again.instructions.count == 1, "one property")
    guard case .set(let sameName, let sameValue) = again.instructions[0] else {
        return invariant(false, "a property that is set")
    }
    invariant(sameName == name, "the same name")
    invariant(sameValue == value, "the same value")
}
