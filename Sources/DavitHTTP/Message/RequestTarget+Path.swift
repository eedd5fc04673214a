extension RequestTarget {
    /// Returns the path of the target resource, ignoring the query; the root for `*` and CONNECT.
    /// - Throws: 400; see ``ResourcePath/parse(rawPath:)``.
    public func resourcePath() throws(HTTPError) -> (path: ResourcePath, endsInSlash: Bool) {
        try ResourcePath.parse(rawPath: rawPath)
    }
}

extension ResourcePath {
    /// Decodes and normalizes a URI path in one pass.
    ///
    /// Empty segments are skipped. Dot segments, raw or encoded, are rejected instead of resolved: clients
    /// resolve dot segments themselves (RFC 3986 §5.2.4), so any that remain are probably an attempt at
    /// path traversal. `%2F` is rejected because no name can contain a slash.
    ///
    /// - Parameter rawPath: the path without query; empty means the root.
    /// - Returns: the path, and whether it ends in a slash.
    /// - Throws: 400 for a path without leading slash, a malformed escape, `.` or `..`, `%2F`, NUL.
    public static func parse(
        rawPath: some Collection<UInt8>
    ) throws(HTTPError) -> (path: ResourcePath, endsInSlash: Bool) {
        let result = rawPath.withSpan { bytes in
            Result { () throws(HTTPError) in try parse(bytes) }
        }
        return try result.get()
    }

    private static func parse(
        _ rawPath: borrowing Span<UInt8>
    ) throws(HTTPError) -> (path: ResourcePath, endsInSlash: Bool) {
        if rawPath.isEmpty { return (.root, true) }
        guard rawPath[0] == UInt8(ascii: "/") else {
            throw HTTPError(.badRequest, "The path must begin with a slash.")
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(rawPath.count)
        var segmentStart = 0
        var isAtSegmentStart = true
        var index = 1
        while index < rawPath.count {
            let byte = rawPath[index]
            if byte == UInt8(ascii: "/") {
                try checkSegment(decoded[segmentStart...])
                isAtSegmentStart = true
                index += 1
                continue
            }
            if isAtSegmentStart {
                if !decoded.isEmpty { decoded.append(UInt8(ascii: "/")) }
                segmentStart = decoded.count
                isAtSegmentStart = false
            }
            if byte == UInt8(ascii: "%") {
                decoded.append(try escapedByte(rawPath, at: index))
                index += 3
            } else {
                if byte == 0 { throw HTTPError(.badRequest, "NUL is not allowed in the path.") }
                decoded.append(byte)
                index += 1
            }
        }
        try checkSegment(decoded[segmentStart...])
        return (ResourcePath(unchecked: decoded), isAtSegmentStart)
    }

    private static func escapedByte(
        _ rawPath: borrowing Span<UInt8>, at index: Int
    ) throws(HTTPError) -> UInt8 {
        guard let byte = PercentCoding.escapedByte(rawPath, at: index) else {
            throw HTTPError(.badRequest, "Malformed percent-encoding in the path.")
        }
        guard byte != 0, byte != UInt8(ascii: "/") else {
            throw HTTPError(.badRequest, "An encoded slash or NUL is not allowed in the path.")
        }
        return byte
    }

    private static func checkSegment(_ segment: ArraySlice<UInt8>) throws(HTTPError) {
        let dot = UInt8(ascii: ".")
        guard segment.first == dot, segment.count <= 2, segment.last == dot else { return }
        throw HTTPError(.badRequest, "Dot segments are not allowed in the path.")
    }
}
