/// The mount table. It is needed because mounting a volume over a directory causes no event in that
/// directory.
package enum MountTable {
    /// Returns the lines of the system's mount table for mount points below a directory; empty if the system
    /// has no such table.
    ///
    /// The lines differ whenever the mounts differ. Reads a small file, without disk access.
    /// - Parameter root: absolute and without links.
    package static func lines(below root: [UInt8]) -> [[UInt8]] {
        #if os(Linux)
        guard let file = try? SmallFile(reading: "/proc/self/mountinfo") else { return [] }
        return lines(of: file.bytes, below: root)
        #else
        []
        #endif
    }

    /// Returns the absolute paths of the mount points below a directory; empty if the system has no mount
    /// table.
    /// - Parameter root: absolute and without links.
    package static func points(below root: [UInt8]) -> [[UInt8]] {
        lines(below: root).compactMap { point(of: $0[...]) }
    }

    /// Returns the mount point of a line; nil if it is malformed.
    /// - Parameter line: a line of the table.
    package static func point(of line: ArraySlice<UInt8>) -> [UInt8]? {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
        return fields.count > 4 ? unescaped(fields[4]) : nil
    }

    /// Returns the lines for mount points below `root`.
    /// - Parameter table: in the format of proc_pid_mountinfo(5).
    package static func lines(of table: [UInt8], below root: [UInt8]) -> [[UInt8]] {
        let above = (root == [UInt8(ascii: "/")] ? [] : root) + [UInt8(ascii: "/")]
        return table.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let point = point(of: line) else { return nil }
            return point.starts(with: above) && point.count > above.count ? Array(line) : nil
        }
    }

    /// Decodes the escapes of white space and backslashes: three octal digits.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), rest.count >= 3 else {
                bytes.append(byte)
                continue
            }
            let value = rest.prefix(3).reduce(0) { $0 << 3 | Int($1 & 7) }
            bytes.append(UInt8(truncatingIfNeeded: value))
            rest = rest.dropFirst(3)
        }
        return bytes
    }
}
