import DavitWebDAV
import DavitXML

/// XML request bodies: PROPPATCH, SEARCH and others. An accepted property value is a self-contained document
/// that serializes to the same bytes again, so that it has the same meaning wherever it is returned (RFC 4918
/// §4.3).
func fuzzXML(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    switch choice % 6 {
    case 0, 1:
        guard let update = try? PropertyUpdate.parse(bytes) else { return }
        invariant(!update.instructions.isEmpty, "at least one instruction")
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
    // Choose a prefix that the value does not mention; otherwise the value would repeat its declaration.
    var prefix = "D"
    while value.element.contains(Array("\(prefix):".utf8)) { prefix += "D" }
    let (start, end) = (
        "<\(prefix):propertyupdate xmlns:\(prefix)='DAV:'><\(prefix):set><\(prefix):prop>",
        "</\(prefix):prop></\(prefix):set></\(prefix):propertyupdate>"
    )
    let update = Array(start.utf8) + value.element + Array(end.utf8)
    guard let again = try? PropertyUpdate.parse(update) else {
        // The declarations that the value repeats may exceed a limit.
        return
    }
    invariant(again.instructions.count == 1, "one instruction")
    guard case .set(let sameName, let sameValue) = again.instructions[0] else {
        return invariant(false, "instruction sets a property")
    }
    invariant(sameName == name, "same name")
    invariant(sameValue == value, "same value")
}
