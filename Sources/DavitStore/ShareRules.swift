package import DavitHTTP

/// The rules that determine which names a share serves. An excluded name is reported as missing when read or
/// removed (404), and cannot be created (403). This applies to every method, to the source and the
/// destination of COPY and MOVE, and to every segment of a path.
public struct ShareRules: Hashable, Sendable {
    /// The file name extensions to allow, without the period; nil allows all. Case is ignored, and an empty
    /// string represents names without an extension. Collections may have any name.
    public var allowedExtensions: Set<String>? {
        get { extensions }
        set { extensions = newValue.map { Set($0.map(Self.normalized)) } }
    }
    private var extensions: Set<String>?
    /// Whether names that begin with a period are served.
    public var allowsHiddenItems = true
    /// How macOS metadata files are treated.
    public var macMetadata = MacMetadataPolicy.keep
    /// Canonical paths that are served by other handlers; the share's resources there are not served.
    package var hiddenPaths: [ResourcePath] = []

    /// Creates rules that allow every name.
    public init() {}

    private static func normalized(_ text: String) -> String {
        (text.hasPrefix(".") ? String(text.dropFirst()) : text).lowercased()
    }

    /// Whether every name is served and listed, so that no checks are needed.
    package var areEmpty: Bool {
        extensions == nil && allowsHiddenItems && macMetadata == .keep && hiddenPaths.isEmpty
    }

    // MARK: Names

    /// Whether a name is excluded, for content and collections alike.
    package func refuses(_ name: some Collection<UInt8>) -> Bool {
        guard name.first == UInt8(ascii: ".") else { return false }
        return !allowsHiddenItems || (macMetadata == .refuse && MacMetadataName.matches(name))
    }

    /// Whether the name of a member is excluded.
    /// - Parameter path: the path of the member; evaluated only if needed.
    package func refuses(
        _ name: some Collection<UInt8>, at path: @autoclosure () -> ResourcePath?
    ) -> Bool {
        if refuses(name) { return true }
        return !hiddenPaths.isEmpty && path().map(isHidden) == true
    }

    /// Whether another handler serves a path.
    package func isHidden(_ path: ResourcePath) -> Bool { hiddenPaths.contains { $0.contains(path) } }

    /// Whether a path is excluded because of itself or any of its segments.
    package func refuses(in path: ResourcePath) -> Bool {
        if isHidden(path) { return true }
        if allowsHiddenItems, macMetadata != .refuse { return false }
        var isRefused = false
        path.forEachDottedSegment { segment, _ in
            isRefused = refuses(segment)
            return !isRefused
        }
        return isRefused
    }

    /// Whether a name is excluded for content because of its extension.
    package func refuses(content name: some BidirectionalCollection<UInt8>) -> Bool {
        guard let extensions else { return false }
        return !extensions.contains(Self.fileExtension(of: name))
    }

    /// Whether listings include a name that is served.
    package func lists(_ name: some Collection<UInt8>) -> Bool {
        switch macMetadata {
        case .keep, .refuse: true
        case .hide, .aside: name.first != UInt8(ascii: ".") || !MacMetadataName.matches(name)
        }
    }

    /// Returns the extension in lower case; empty if there is none. A leading period is part of the base
    /// name.
    private static func fileExtension(of name: some BidirectionalCollection<UInt8>) -> String {
        guard let period = name.lastIndex(of: UInt8(ascii: ".")), period != name.startIndex else { return "" }
        return String(decoding: name[name.index(after: period)...], as: UTF8.self).lowercased()
    }
}
