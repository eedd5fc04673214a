#if DAVIT_FAULTS
/// Simulates a case-insensitive volume for tests on a case-sensitive one: calls with a name are redirected to
/// the stored name that such a volume would find.
package struct CaseInsensitiveVolume: Sendable {
    /// Whether renaming `a` to `A` changes the stored spelling, as on Apple's systems; Linux reports success
    /// without changing it.
    package var respells: Bool

    package init(respells: Bool) { self.respells = respells }

    /// Returns the stored spelling of `name` in a directory; `name` itself if it does not exist.
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

    /// Returns the names for a rename; nil if there is nothing to do. Assumes that both directories are the
    /// same if the two names differ only in case.
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
