/// The names and folders that must be compared again because of events.
package struct DirtyNames {
    /// The changes of a name that events have reported.
    package struct Hints: OptionSet {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A member was created with this name, or moved to it.
        package static let arrived = Hints(rawValue: 1)
        /// The member with this name was removed or renamed.
        static let left = Hints(rawValue: 2)
        /// The member is a folder whose permissions may have changed.
        static let access = Hints(rawValue: 4)
        /// The removed or renamed member was a folder.
        static let folder = Hints(rawValue: 8)

        /// Whether the name no longer exists, according to the events.
        var isOfRemoval: Bool { contains(.left) && !contains(.arrived) }
    }

    /// The maximum number of names per folder; beyond it, the entire folder is marked.
    package static let namesOfFolder = 8_192
    /// The maximum number of names in total; beyond it, all folders with marked names are marked entirely.
    package static let nameLimit = 32_768

    private var names: [Int64: [[UInt8]: Hints]] = [:]
    private var whole: Set<Int64> = []
    private var count = 0

    package init() {}

    var isEmpty: Bool { names.isEmpty && whole.isEmpty }
    /// The number of marked names and folders.
    var markCount: Int { count + whole.count }

    package mutating func record(_ name: [UInt8], in folder: Int64, _ hints: Hints) {
        if whole.contains(folder) { return }
        let isNew = names[folder, default: [:]].updateHints(hints, of: name)
        guard isNew else { return }
        count += 1
        if names[folder]?.count ?? 0 > Self.namesOfFolder { return record(whole: folder) }
        if count > Self.nameLimit {
            for folder in Array(names.keys) { record(whole: folder) }
        }
    }

    mutating func record(whole folder: Int64) {
        count -= names.removeValue(forKey: folder)?.count ?? 0
        whole.insert(folder)
    }

    mutating func forget(_ folder: Int64) {
        count -= names.removeValue(forKey: folder)?.count ?? 0
        whole.remove(folder)
    }

    mutating func removeAll() { self = DirtyNames() }

    /// Returns all names and folders, and removes them.
    package mutating func take() -> (names: [Int64: [[UInt8]: Hints]], whole: Set<Int64>) {
        let taken = (names, whole)
        self = DirtyNames()
        return taken
    }
}

extension [[UInt8]: DirtyNames.Hints] {
    /// - Returns: true if the name is new.
    fileprivate mutating func updateHints(_ hints: DirtyNames.Hints, of name: [UInt8]) -> Bool {
        guard let index = index(forKey: name) else {
            self[name] = hints
            return true
        }
        values[index].formUnion(hints)
        return false
    }
}
