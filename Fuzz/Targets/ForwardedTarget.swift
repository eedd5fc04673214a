import DavitHTTP

/// `Forwarded` (RFC 7239) and the `X-Forwarded-` fields behind a trusted proxy: elements before those that
/// the proxy added do not change the result.
func fuzzForwarded(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    let isOlder = choice % 2 == 1
    guard let alone = lastElement(after: [], isOlder) else {
        return invariant(false, "the proxy's element is parsed")
    }
    // Nil if the whole head is rejected.
    guard let found = lastElement(after: bytes, isOlder) else { return }
    invariant(found == alone, "the client cannot change the proxy's element")
}

/// Returns the last element of a field that consists of client input and the proxy's element.
private func lastElement(after client: [UInt8], _ isOlder: Bool) -> [UInt8]? {
    let name = isOlder ? "X-Forwarded-For" : "Forwarded"
    let own = isOlder ? "192.0.2.1" : "for=192.0.2.1;proto=https"
    var head = Array("GET / HTTP/1.1\r\nHost: a\r\n\(name): ".utf8)
    head += client.filter { $0 != 13 && $0 != 10 && $0 != 0 } + Array(", \(own)\r\n\r\n".utf8)
    guard let request = try? HTTPRequest(parsing: head) else { return nil }
    var last: [UInt8]?
    request.forEachElementFromRight(of: isOlder ? .xForwardedFor : .forwarded) { bytes in
        if !isOlder, ForwardedElement(parsing: bytes) == nil { return .extend }
        invariant(!bytes.isEmpty && bytes.count <= head.count, "element is part of the field")
        if last == nil { last = [UInt8](copying: bytes) }
        return .next
    }
    return last
}
