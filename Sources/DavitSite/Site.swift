internal import DavitHTTP
internal import DavitStore

/// Resolves requests in the folder of a website. Synchronous; does not create responses.
final class Site: Sendable {
    enum Finding: Sendable {
        /// A file, and its gzip-coded representation if that is to be sent.
        case content(OpenContent, gzip: OpenContent?)
        /// A folder that was requested without a trailing slash.
        case unslashedFolder
        /// A folder to list.
        case folder(canonicalPath: ResourcePath)
        case nothing(page: OpenContent?)
    }

    let options: SiteOptions
    let resources: any ResourceReader
    private let indexNames: [[UInt8]]
    private let notFoundPage: ResourcePath?

    init(_ resources: any ResourceReader, _ options: SiteOptions) {
        self.options = options
        self.resources = resources
        indexNames = options.indexNames.map { Array($0.utf8) }
        let page = options.notFoundPage.utf8.split(separator: UInt8(ascii: "/"))
        notFoundPage = page.isEmpty ? nil : ResourcePath(segments: page)
    }

    /// Resolves a request for a path in the folder.
    /// - Throws: `wouldBlock` if the disk must be accessed and `wait` does not allow that; otherwise
    ///   `forbidden`, `busy` or `failed`.
    func find(
        _ request: HTTPRequest, at path: ResourcePath, endsInSlash: Bool, wait: Wait
    ) throws(StoreError) -> Finding {
        if !options.showsHidden, Self.isHidden(path) { return try nothing(wait) }
        // Try the index before the folder itself: most requests for a folder are answered with its index.
        if endsInSlash, let index = try index(of: path, request, wait) { return index }
        guard let resource = try open(path, wait) else { return try nothing(wait) }
        if let content = resource.content {
            if endsInSlash { return try nothing(wait) }
            return .content(content, gzip: try gzip(of: content, at: path, for: request, wait))
        }
        if !endsInSlash { return .unslashedFolder }
        guard options.listsFolders else { return try nothing(wait) }
        return .folder(canonicalPath: resource.canonicalPath ?? path)
    }

    /// Whether a member of a folder may be listed.
    func shows(_ member: Member) -> Bool {
        if !options.showsHidden, member.name.first == UInt8(ascii: ".") { return false }
        return member.canonicalPath.map(leads(to:)) ?? true
    }

    private func index(
        of path: ResourcePath, _ request: HTTPRequest, _ wait: Wait
    ) throws(StoreError) -> Finding? {
        for name in indexNames {
            guard let path = path.appending(name), let content = try open(path, wait)?.content else {
                continue
            }
            return .content(content, gzip: try gzip(of: content, at: path, for: request, wait))
        }
        return nil
    }

    private func nothing(_ wait: Wait) throws(StoreError) -> Finding {
        guard let notFoundPage else { return .nothing(page: nil) }
        return .nothing(page: try openIfPossible(notFoundPage, wait)?.content)
    }

    /// Opens a resource; returns nil if it does not exist, or if a link leads to it that the options do not
    /// allow.
    private func open(_ path: ResourcePath, _ wait: Wait) throws(StoreError) -> OpenResource? {
        let resource: OpenResource
        do throws(StoreError) {
            resource = try resources.open(path, wait: wait)
        } catch {
            switch error {
            case .notFound, .missingAncestor, .wrongKind, .invalidName, .nameTooLong, .loop: return nil
            case .wouldBlock, .alreadyExists, .forbidden, .outOfSpace, .quotaExceeded, .crossVolume, .busy,
                .rightsChanged,
                .tooDeep, .superseded, .failed:
                throw error
            }
        }
        // A different spelling of the name is not a link.
        if let canonical = resource.canonicalPath, canonical.equivalenceKey != path.equivalenceKey,
            !leads(to: canonical)
        {
            return nil
        }
        return resource
    }

    /// Like `open`, but for optional parts of a response: also returns nil after any error except
    /// `wouldBlock`.
    private func openIfPossible(_ path: ResourcePath, _ wait: Wait) throws(StoreError) -> OpenResource? {
        do throws(StoreError) { return try open(path, wait) } catch {
            if error == .wouldBlock { throw error }
            return nil
        }
    }

    /// Whether the options allow a link to this target.
    private func leads(to path: ResourcePath) -> Bool {
        options.followsLinks && (options.showsHidden || !Self.isHidden(path))
    }

    private func gzip(
        of content: OpenContent, at path: ResourcePath, for request: HTTPRequest, _ wait: Wait
    ) throws(StoreError) -> OpenContent? {
        guard options.usesPrecompressed, content.head.negotiatesCoding,
            RepresentationChoice.takesGzip(request)
        else {
            return nil
        }
        let sibling = ResourcePath(unchecked: path.bytes + Array(".gz".utf8))
        guard let gzip = try openIfPossible(sibling, wait)?.content,
            gzip.head.modified >= content.head.modified
        else { return nil }
        return gzip
    }

    /// Whether a name in the path begins with a dot, except for `/.well-known` at the top, which protocols
    /// use (RFC 8615).
    static func isHidden(_ path: ResourcePath) -> Bool {
        var isStart = true
        let bytes = path.bytes
        for index in bytes.indices {
            if isStart, bytes[index] == UInt8(ascii: "."), index > 0 || !isWellKnown(bytes) { return true }
            isStart = bytes[index] == UInt8(ascii: "/")
        }
        return false
    }

    private static func isWellKnown(_ bytes: [UInt8]) -> Bool {
        bytes.prefix { $0 != UInt8(ascii: "/") }.elementsEqual(wellKnown)
    }

    private static let wellKnown = Array(".well-known".utf8)
}
