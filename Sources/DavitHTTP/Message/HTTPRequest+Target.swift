/// The path, rewriting of the request target, and support for mounted handlers.
extension HTTPRequest {
    /// The decoded path relative to ``mountPath``, without the query: `/notes/Käse` for
    /// `/notes/K%C3%A4se?all`. Begins with a slash, contains no empty segments, and ends in a slash if the
    /// path was sent with one. The path of the target `*` is `/`.
    ///
    /// Decoded on each access, in linear time. Bytes that are not UTF-8 are replaced. A path that no resource
    /// can have, with a malformed escape, `..`, `%2F` or `%00`, is returned as sent; middleware can see such
    /// a path, but routers and shares refuse the request with 400. Use ``fullRawPath`` to create links.
    public var path: String {
        guard let (path, endsInSlash) = try? parsedTarget.resourcePath() else {
            return String(decoding: parsedTarget.rawPath, as: UTF8.self)
        }
        return path.description + (endsInSlash && !path.isRoot ? "/" : "")
    }

    /// The path as the client sent it, including the mount prefix. Use it to create hrefs and redirects.
    public var fullRawPath: [UInt8] { mountPath.isEmpty ? target.rawPath : mountPath + target.rawPath }

    /// Replaces path and query as if the client had requested them. For middleware in front of a router.
    ///
    /// - Parameter pathAndQuery: a percent-encoded path with its leading slash, and an optional query.
    /// - Throws: 400 if the text is not a valid request target.
    public func rewriteTarget(to pathAndQuery: String) throws(HTTPError) {
        guard pathAndQuery.utf8.first == UInt8(ascii: "/") else {
            throw HTTPError(.badRequest, "The path must begin with a slash.")
        }
        let authority = target.authority
        let form = target.form
        parsedTarget.removeAll()
        try parsedTarget.parse(Array(pathAndQuery.utf8).span, method: .get)
        parsedTarget.authority = authority
        parsedTarget.form = form == .absolute ? .absolute : .origin
    }

    /// Prepends `prefix`, which a proxy has removed from the path, to ``mountPath``.
    /// - Returns: the previous state for ``leaveMount(_:)``.
    package func enter(_ prefix: PathPrefix) -> MountPosition {
        let mount = MountPosition(rawPath: target.rawPath, mountPath: mountPath)
        parsedMountPath = prefix.bytes + parsedMountPath
        return mount
    }

    /// The state that ``enterMount(segments:)`` and ``enter(_:)`` change.
    package struct MountPosition {
        fileprivate var rawPath: [UInt8]
        fileprivate var mountPath: [UInt8]
    }

    /// Moves leading segments of the path to ``mountPath``.
    /// - Returns: the previous state for ``leaveMount(_:)``.
    package func enterMount(segments: Int) -> MountPosition {
        let mount = MountPosition(rawPath: target.rawPath, mountPath: mountPath)
        let end = target.end(ofSegments: segments)
        guard end > 0 else { return mount }
        parsedMountPath += target.rawPath[..<end]
        parsedTarget.rawPath.removeSubrange(..<end)
        return mount
    }

    /// Restores the state from before ``enterMount(segments:)`` or ``enter(_:)``.
    /// - Returns: the state inside the mount, for ``resumeMount(_:)``.
    @discardableResult
    package func leaveMount(_ mount: MountPosition) -> MountPosition {
        let inside = MountPosition(rawPath: parsedTarget.rawPath, mountPath: parsedMountPath)
        parsedTarget.rawPath = mount.rawPath
        parsedMountPath = mount.mountPath
        return inside
    }

    /// Restores the state inside a mount, to continue a pending request.
    /// - Parameter inside: the state when the mount was left.
    /// - Returns: the previous state for ``leaveMount(_:)``.
    package func resumeMount(_ inside: MountPosition) -> MountPosition { leaveMount(inside) }
}

extension RequestTarget {
    /// Returns the end of the first `count` segments in `rawPath`; empty segments do not count, as in
    /// ``ResourcePath``.
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
