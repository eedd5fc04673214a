internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Where a volume takes several spellings for one name, two names of one file may be two entries of a folder or one:
/// then nothing is removed, and a rename from one to the other changes the spelling.
extension SharedFolder {
    /// Whether two names that lead to the same file are one entry. Reads the folder, if it comes to that.
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

    /// Ends a rename from one name of a file to another, which the system takes for nothing to do: the first goes, if
    /// it is an entry of its own.
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

    /// Gives an entry another of its spellings, if the volume does that in one step.
    /// - Returns: false, with nothing changed, if it takes more.
    func respellInOneStep(
        _ name: [UInt8], as newName: [UInt8], in folder: borrowing FileDescriptor
    ) throws(SystemError) -> Bool {
        // Linux takes this for a rename onto itself, and does nothing.
        try folder.rename(name, to: folder, as: newName)
        return try Self.entries(newName, newName, in: folder).contains(newName)
    }

    /// By way of a third name, an ordinary one: nobody removes it if a crash leaves the file there.
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

    /// Which of two names stand in a folder byte for byte.
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
