import DavitHTTP

/// `Forwarded` (RFC 7239) and the `X-Forwarded-` fields, as a server behind a trusted proxy reads them: what is left of the
/// elements that the proxy added does not change what is read.
func fuzzForwarded(_ input: [UInt8]) {
    let (choice, bytes) = divided(input)
    let isOlder = choice % 2 == 1
    guard let alone = lastElement(after: [], isOlder) else {
        return invariant(false, "the proxy's own element")
    }
    // Nil where the head is refused as a whole.
    guard let found = lastElement(after: bytes, isOlder) else { return }
    invariant(found == alone, "a client cannot change what the proxy says")
}

/// The last element of a field whose left part is made by a client and whose last element is the proxy's.
private func lastElement(after client: [UInt8], _ isOlder: Bool) -> [UInt8]? {
    let name = isOlder ? "X-Forwarded-For" : "Forwarded"
    let own = isOlder ? "192.0.2.1" : "for=192.0.2.1;proto=https"
    var head = Array("GET / HTTP/1.1\r\nHost: a\r\n\(name): ".utf8)
    head += client.filter { $0 != 13 && $0 != 10 && $0 != 0 } + Array(", \(own)\r\n\r\n".utf8)
    guard let request = try? HTTPRequest(parsing: head) else { return nil }
    var last: [UInt8]?
    request.forEachElementFromRight(of: isOlder ? .xForwardedFor : .forwarded) { bytes in
        if !isOlder, ForwardedElement(parsing: bytes) == nil { return .extend }
        invariant(!bytes.isEmpty && bytes.count <= head.count, "an element from the field")
        if last == nil { last = [UInt8](copying: bytes) }
        return .next
    }
    return last
}
