internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Maps URLs to paths of a share.
final class URLMapping: Sendable {
    private let rules: ShareRules?
    private let publicHosts: [String]

    init(rules: ShareRules?, publicHosts: [String]) {
        self.rules = rules
        self.publicHosts = publicHosts
    }

    /// Returns the path in the share to which an absolute URI or absolute path, such as a Resource-Tag of `If` or an
    /// href, refers; nil if it refers to no path of the share.
    func path(ofReference reference: String, in context: RequestContext) -> ResourcePath? {
        let bytes = Array(reference.utf8)
        guard let destination = try? DestinationHeader.parse(bytes.span) else { return nil }
        guard isOurs(destination, in: context) else { return nil }
        return try? self.path(at: destination.rawPath, in: context)
    }

    /// Converts the path of a URL on this server to a path in this share.
    /// - Returns: nil if the path is outside the share or belongs to another mount inside it.
    /// - Throws: 400 for an invalid path.
    func path(at rawPath: [UInt8], in context: RequestContext) throws(HTTPError) -> ResourcePath? {
        guard let path = try context.path(at: rawPath) else { return nil }
        return isHidden(path) ? nil : path
    }

    /// Whether another mount hides this path of the share.
    func isHidden(_ path: ResourcePath) -> Bool { rules?.isHidden(path) == true }

    /// Whether the reference is a path, or an http or https URI of this server. Both schemes are accepted: if a proxy
    /// terminates TLS, clients send https references in requests that arrive over http.
    func isOurs(_ reference: DestinationHeader, in context: RequestContext) -> Bool {
        reference.isHTTP && (reference.authority.map { isOurs($0, in: context) } ?? true)
    }

    /// Whether `authority` is the host of this request, the host that a trusted proxy forwarded, or one of
    /// the configured public names. Any host is accepted if the request specifies none, or if a proxy hides
    /// the requested host and no public name is configured.
    private func isOurs(_ authority: [UInt8], in context: RequestContext) -> Bool {
        guard let other = HostField(parsing: authority.span) else { return false }
        if publicHosts.contains(where: { Array($0.utf8) == other.host }) { return true }
        guard let own = context.request.authority ?? context.request.bytes(of: .host) else {
            return true
        }
        return Self.isSame(own, other)
            || context.request.forwardedHost.map { Self.isSame($0, other) } == true
            || publicHosts.isEmpty && context.request.isHostUncertain
    }

    private static func isSame(_ authority: [UInt8], _ other: HostField) -> Bool {
        HostField(parsing: authority.span)?.isSameServer(as: other) ?? false
    }
}
