internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Changes between spellings of one name. On volumes where several spellings refer to one name, two names of
/// a file can be one directory entry or two. If they are one, nothing must be removed, and a rename between
/// them changes the spelling.
extension SharedFolder {
    /// Whether two names of the same file are a single directory entry. May read the folder.
    func isOneEntry(
        _ name: [UInt8], of folder: borrowing FileDescriptor, _ other: [UInt8],
        of second: borrowing FileDescriptor
    ) throws(SystemError) -> Bool {
        guard name != other, try folder.status().identity == second.status().identity,
            let file = try? folder.status(of: name), let same = try? folder.status(of: other),
            file.identity == same.identity
        else { return false }
        let stored = try Self.entries(name, other, in: folder)
        return stored.count < 2
    }

    /// Completes a rename between two hard links of the same file, which the system treats as a no-op:
    /// removes the first one if it is a separate entry.
    func removeSecondName(
        _ name: [UInt8], of folder: borrowing FileDescriptor, beside newName: [UInt8],
        of second: borrowing FileDescriptor
    ) throws(SystemError) {
        if try isOneEntry(name, of: folder, newName, of: second) {
            try respell(name, as: newName, in: folder)
        } else if try folder.status(of: name).kind != .directory {
            try folder.unlink(name)
        }
    }

    /// Changes the spelling of an entry, if the volume can do it in one step.
    /// - Returns: false, without any change, if it takes more steps.
    func respellInOneStep(
        _ name: [UInt8], as newName: [UInt8], in folder: borrowing FileDescriptor
    ) throws(SystemError) -> Bool {
        // Linux treats this as a rename to itself and does nothing.
        try folder.rename(name, to: folder, as: newName)
        return try Self.entries(newName, newName, in: folder).contains(newName)
    }

    /// Changes the spelling of an entry, through a temporary name if one step is not sufficient. The
    /// temporary name is not a reserved one, so that no sweep removes the file if a crash leaves it there.
    func respell(
        _ name: [UInt8], as newName: [UInt8], in folder: borrowing FileDescriptor
    ) throws(SystemError) {
        if try respellInOneStep(name, as: newName, in: folder) { return }
        let between = Array("renamed".utf8) + ReservedName.random().bytes
        try folder.rename(name, to: folder, as: between)
        do {
            try folder.rename(between, to: folder, as: newName)
        } catch {
            try? folder.rename(between, to: folder, as: name)
            throw error
        }
    }

    /// Returns those of two names that a folder contains with exactly these bytes.
    private static func entries(
        _ name: [UInt8], _ other: [UInt8], in folder: borrowing FileDescriptor
    ) throws(SystemError) -> Set<[UInt8]> {
        let directory = try folder.open([UInt8(ascii: ".")], for: .entries)
        var found: Set<[UInt8]> = []
        var block = DirectoryBlock(capacity: 1 << 15)
        while try block.read(from: directory) {
            block.scan { entry in
                let bytes = entry.bytes
                if bytes == name || bytes == other { found.insert(bytes) }
            }
        }
        return found
    }
}
