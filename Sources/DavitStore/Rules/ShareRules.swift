package import DavitHTTP

/// Which names a share serves. A name that it does not serve is absent for who reads or removes it, 404, and refused to
/// who would make it, 403: for every method, at both ends of COPY and MOVE, and in every part of a path.
public struct ShareRules: Hashable, Sendable {
    /// The extensions that files may have, without a period; nil for all. Case does not count, and an empty one stands for
    /// names without. Collections may be called anything.
    public var allowedExtensions: Set<String>? {
        get { extensions }
        set { extensions = newValue.map { Set($0.map(Self.normalized)) } }
    }
    private var extensions: Set<String>?
    /// Whether names that begin with a period are served.
    public var allowsHiddenItems = true
    /// What becomes of the files that Macs leave behind.
    public var litter = LitterPolicy.keep
    /// Canonical paths that something else answers for: what the share's own folder has there is not served.
    package var hiddenPaths: [ResourcePath] = []

    /// Serves every name.
    public init() {}

    private static func normalized(_ text: String) -> String {
        (text.hasPrefix(".") ? String(text.dropFirst()) : text).lowercased()
    }

    /// True if every name is served and listed: then nobody need be asked.
    package var areEmpty: Bool {
        extensions == nil && allowsHiddenItems && litter == .keep && hiddenPaths.isEmpty
    }

    // MARK: Names

    /// Whether a name is not served, whatever it stands for.
    package func refuses(_ name: some Collection<UInt8>) -> Bool {
        guard name.first == UInt8(ascii: ".") else { return false }
        return !allowsHiddenItems || (litter == .refuse && LitterName.matches(name))
    }

    /// The same of a member of a collection.
    /// - Parameter path: of the member; not asked for unless it matters.
    package func refuses(
        _ name: some Collection<UInt8>, at path: @autoclosure () -> ResourcePath?
    ) -> Bool {
        if refuses(name) { return true }
        return !hiddenPaths.isEmpty && path().map(hides) == true
    }

    /// True if something else answers for a path.
    package func hides(_ path: ResourcePath) -> Bool { hiddenPaths.contains { $0.contains(path) } }

    /// Whether a path is not served because of it, or of any part of it.
    package func refuses(in path: ResourcePath) -> Bool {
        if hides(path) { return true }
        if allowsHiddenItems, litter != .refuse { return false }
        var isRefused = false
        path.forEachDottedSegment { segment, _ in
            isRefused = refuses(segment)
            return !isRefused
        }
        return isRefused
    }

    /// Whether a name is not served because of its extension, if it stands for content.
    package func refuses(content name: some BidirectionalCollection<UInt8>) -> Bool {
        guard let extensions else { return false }
        return !extensions.contains(Self.fileExtension(of: name))
    }

    /// Whether a listing has a name that is served.
    package func lists(_ name: some Collection<UInt8>) -> Bool {
        switch litter {
        case .keep, .refuse: true
        case .hide, .aside: name.first != UInt8(ascii: ".") || !LitterName.matches(name)
        }
    }

    /// In lower case; empty where there is none. A period at the start is part of the name.
    private static func fileExtension(of name: some BidirectionalCollection<UInt8>) -> String {
        guard let period = name.lastIndex(of: UInt8(ascii: ".")), period != name.startIndex else { return "" }
        return String(decoding: name[name.index(after: period)...], as: UTF8.self).lowercased()
    }
}
