public import DavitHTTP

/// Selects the members that a copy of a collection includes.
public protocol CopyFilter: Sendable {
    /// Whether a member of any kind is left out.
    /// - Parameter path: the canonical path of the member; evaluated only if needed.
    func omits(_ name: [UInt8], at path: @autoclosure () -> ResourcePath?) -> Bool
    /// Whether a link that leads to this canonical path is left out.
    func omits(target: ResourcePath) -> Bool
    /// Whether content with this name is left out.
    func omits(content name: [UInt8]) -> Bool
    /// Whether content is copied, left out, or reported as a failure.
    /// - Parameter path: the canonical path of the content; evaluated only if needed.
    func admission(at path: @autoclosure () -> ResourcePath?) -> CopyAdmission
    /// Whether the source is removed after the copy. Then members that cannot be copied, such as links that lead nowhere, are
    /// failures, and the copy gets the modification times of the source.
    var replacesSource: Bool { get }
}

extension CopyFilter {
    /// Returns false.
    public var replacesSource: Bool { false }
}

/// What happens to content when its collection is copied.
public enum CopyAdmission: Sendable {
    case copy
    case omit
    /// The client may list the content but not read it, which the response reports.
    case fail
}

extension ShareRules: CopyFilter {
    public func omits(_ name: [UInt8], at path: @autoclosure () -> ResourcePath?) -> Bool {
        refuses(name, at: path())
    }

    public func omits(target: ResourcePath) -> Bool { refuses(in: target) }
    public func omits(content name: [UInt8]) -> Bool { refuses(content: name) }
    public func admission(at path: @autoclosure () -> ResourcePath?) -> CopyAdmission { .copy }
}
