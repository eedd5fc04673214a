/// What a principal may do with a resource.
public enum Right: UInt8, CaseIterable, Hashable, Sendable {
    /// See that the resource exists, with its properties, and list the members of a collection.
    case list
    /// Read content.
    case read
    /// Add members to a collection.
    case create
    /// Change content and properties, and rename inside a collection.
    case change
    /// Remove the resource.
    case delete
    /// Share the resource with people without an account.
    case share
    /// Decide who has which rights, and break the locks of others.
    case manage

    /// The name in commands and files.
    public var name: String { String(describing: self) }
}

/// A set of rights.
public struct Rights: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public init(_ right: Right) { rawValue = 1 << right.rawValue }

    public static let list = Rights(.list)
    public static let read = Rights(.read)
    public static let create = Rights(.create)
    public static let change = Rights(.change)
    public static let delete = Rights(.delete)
    public static let share = Rights(.share)
    public static let manage = Rights(.manage)

    // MARK: Presets

    public static let none: Rights = []
    /// Look at everything.
    public static let view: Rights = [.list, .read]
    /// Look at everything and add to it, but change nothing.
    public static let add: Rights = [.list, .read, .create]
    /// Hand in files, without seeing those of others.
    public static let drop: Rights = [.create]
    /// Everything except to share and to manage.
    public static let edit: Rights = [.list, .read, .create, .change, .delete]
    public static let all: Rights = [.list, .read, .create, .change, .delete, .share, .manage]

    /// The presets by name, from the fewest rights to the most.
    public static let presets: [(name: String, rights: Rights)] = [
        ("none", .none), ("drop", .drop), ("view", .view), ("add", .add), ("edit", .edit), ("all", .all),
    ]

    public func contains(_ right: Right) -> Bool { rawValue & (1 << right.rawValue) != 0 }

    /// Parses the name of a preset, or the names of rights separated by commas.
    /// - Returns: nil if a name is unknown or a right occurs twice.
    public init?(parsing text: String) {
        if let preset = Self.presets.first(where: { $0.name == text }) {
            self = preset.rights
            return
        }
        var rights = Rights.none
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let right = Right.allCases.first(where: { $0.name == name }),
                rights.insert(Rights(right)).inserted
            else { return nil }
        }
        self = rights
    }
}

extension Rights: CustomStringConvertible {
    /// The name of the preset with these rights, or their names separated by commas; see ``init(parsing:)``.
    public var description: String {
        if let preset = Self.presets.first(where: { $0.rights == self }) { return preset.name }
        return Right.allCases.filter { contains($0) }.map(\.name).joined(separator: ",")
    }
}
