#if DAVIT_FAULTS
/// A volume that ignores the case of letters, for tests on one that does not: calls of a test get the name that such a
/// volume would have found.
package struct FoldingVolume: Sendable {
    /// Whether a rename of `a` to `A` changes the spelling, as on Apple's systems; Linux does nothing and says that it
    /// worked.
    package var respells: Bool

    package init(respells: Bool) { self.respells = respells }

    /// The name that is stored in a directory for `name`; itself if there is none.
    static func stored(_ name: [UInt8], in directory: Int32) -> [UInt8] {
        guard FileFaults.plan?.folding != nil else { return name }
        return FileFaults.$plan.withValue(nil) { find(name, in: directory) } ?? name
    }

    private static func find(_ name: [UInt8], in directory: Int32) -> [UInt8]? {
        let number = unsafe openAt(directory, ".", OpenMode.entries.flags, 0)
        if number < 0 { return nil }
        let entries = FileDescriptor(owning: number)
        let wanted = String(decoding: name, as: UTF8.self).lowercased()
        var block = DirectoryBlock(capacity: 1 << 15)
        while (try? block.read(from: entries)) == true {
            while block.advance() {
                let bytes = block.entry.bytes
                if String(decoding: bytes, as: UTF8.self).lowercased() == wanted { return bytes }
            }
        }
        return nil
    }

    /// The names of a rename; nil if nothing is to be done. Both directories are one wherever a test comes here with one name.
    static func names(
        _ name: [UInt8], in from: Int32, _ newName: [UInt8], in to: Int32
    ) -> (old: [UInt8], new: [UInt8])? {
        guard let folding = FileFaults.plan?.folding else { return (name, newName) }
        let old = stored(name, in: from)
        let taken = stored(newName, in: to)
        if taken == old { return folding.respells ? (old, newName) : nil }
        return (old, taken)
    }
}
#endif
