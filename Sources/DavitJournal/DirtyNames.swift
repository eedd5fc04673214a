/// What has happened since somebody looked: names in folders, or whole folders.
struct DirtyNames {
    /// What events have said of a name.
    struct Hints: OptionSet {
        let rawValue: UInt8

        /// It was given to something.
        static let arrived = Hints(rawValue: 1)
        /// It was taken from something.
        static let left = Hints(rawValue: 2)
        /// It is a folder that may be readable now, or no longer.
        static let access = Hints(rawValue: 4)
    }

    /// Names of one folder that are kept; over it the folder is read as a whole.
    private static let namesOfFolder = 8_192
    /// Names that are kept in all.
    private static let nameLimit = 32_768

    private var names: [Int64: [[UInt8]: Hints]] = [:]
    private var whole: Set<Int64> = []
    private var count = 0

    var isEmpty: Bool { names.isEmpty && whole.isEmpty }

    mutating func note(_ name: [UInt8], in folder: Int64, _ hints: Hints) {
        if whole.contains(folder) { return }
        let isNew = names[folder, default: [:]].updateHints(hints, of: name)
        guard isNew else { return }
        count += 1
        if names[folder]?.count ?? 0 > Self.namesOfFolder { return note(whole: folder) }
        if count > Self.nameLimit {
            for folder in Array(names.keys) { note(whole: folder) }
        }
    }

    mutating func note(whole folder: Int64) {
        count -= names.removeValue(forKey: folder)?.count ?? 0
        whole.insert(folder)
    }

    mutating func forget(_ folder: Int64) {
        count -= names.removeValue(forKey: folder)?.count ?? 0
        whole.remove(folder)
    }

    mutating func removeAll() { self = DirtyNames() }

    /// Everything, and begins anew.
    mutating func take() -> (names: [Int64: [[UInt8]: Hints]], whole: Set<Int64>) {
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
