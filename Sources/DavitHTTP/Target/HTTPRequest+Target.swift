/// Rewriting the target, and handlers below a prefix.
extension HTTPRequest {
    /// The path as the client sent it, also for a handler that is mounted below a prefix: what hrefs and
    /// redirects are made from.
    public var fullRawPath: [UInt8] { mountPath.isEmpty ? target.rawPath : mountPath + target.rawPath }

    /// Replaces path and query, as if the client had asked for them. For middleware, before a router looks.
    ///
    /// - Parameter pathAndQuery: percent-encoded, with its leading slash.
    /// - Throws: 400 for text that no request target of this form has.
    public func rewriteTarget(to pathAndQuery: String) throws(HTTPError) {
        guard pathAndQuery.utf8.first == UInt8(ascii: "/") else {
            throw HTTPError(.badRequest, "a path without leading slash")
        }
        let authority = target.authority
        let form = target.form
        parsedTarget.removeAll()
        try parsedTarget.parse(Array(pathAndQuery.utf8).span, method: .get)
        parsedTarget.authority = authority
        parsedTarget.form = form == .absolute ? .absolute : .origin
    }

    /// Puts what a proxy has taken away from the path into ``mountPath``.
    /// - Returns: what ``leaveMount(_:)`` needs.
    package func enter(_ prefix: PathPrefix) -> Place {
        let place = Place(rawPath: target.rawPath, mountPath: mountPath)
        parsedMountPath = prefix.bytes + parsedMountPath
        return place
    }

    /// What ``enterMount(segments:)`` changes.
    package struct Place {
        fileprivate var rawPath: [UInt8]
        fileprivate var mountPath: [UInt8]
    }

    /// Moves so many segments of the path to ``mountPath``.
    /// - Returns: what ``leaveMount(_:)`` needs.
    package func enterMount(segments: Int) -> Place {
        let place = Place(rawPath: target.rawPath, mountPath: mountPath)
        let end = target.end(ofSegments: segments)
        guard end > 0 else { return place }
        parsedMountPath += target.rawPath[..<end]
        parsedTarget.rawPath.removeSubrange(..<end)
        return place
    }

    package func leaveMount(_ place: Place) {
        parsedTarget.rawPath = place.rawPath
        parsedMountPath = place.mountPath
    }
}

extension RequestTarget {
    /// Where in `rawPath` its first `count` segments end; empty ones do not count, as in ``ResourcePath``.
    fileprivate func end(ofSegments count: Int) -> Int {
        let slash = UInt8(ascii: "/")
        var index = 0
        for _ in 0..<count {
            while index < rawPath.count, rawPath[index] == slash { index += 1 }
            while index < rawPath.count, rawPath[index] != slash { index += 1 }
        }
        return index
    }
}
