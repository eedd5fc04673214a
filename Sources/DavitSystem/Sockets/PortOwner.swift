/// The process that listens on a TCP port of this machine, as far as the system reports it to this user.
package struct PortOwner: Hashable, Sendable {
    package let process: Int32
    /// The name of the program, at most 15 bytes.
    package let name: String

    /// Finds the process in `/proc`. Reads a few files for each process of the machine.
    /// - Returns: nil if no process listens on the port, if it belongs to another user, or without `/proc`.
    package static func listening(on port: UInt16) -> PortOwner? {
        var inodes: Set<String> = []
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let file = try? SmallFile(reading: table, limitBytes: 16 << 20) else { continue }
            inodes.formUnion(listeners(in: file.bytes, port: port))
        }
        if inodes.isEmpty { return nil }
        for name in (try? PrivateFolder.names(in: "/proc")) ?? [] {
            guard let process = Int32(name), holds(inodes, process) else { continue }
            let comm = try? SmallFile(reading: "/proc/\(name)/comm")
            let text = String(decoding: comm?.bytes.prefix { $0 != 10 } ?? [], as: UTF8.self)
            return PortOwner(process: process, name: text)
        }
        return nil
    }

    /// Returns the inodes of the listening sockets of a port.
    /// - Parameter table: in the format of `/proc/net/tcp`, see proc_pid_net(5).
    package static func listeners(in table: [UInt8], port: UInt16) -> Set<String> {
        var inodes: Set<String> = []
        for line in table.split(separator: 10).dropFirst() {
            let fields = line.split(separator: 32)
            guard fields.count > 9, fields[3].elementsEqual("0A".utf8),
                let digits = fields[1].split(separator: 58).last,
                UInt16(String(decoding: digits, as: UTF8.self), radix: 16) == port
            else { continue }
            inodes.insert(String(decoding: fields[9], as: UTF8.self))
        }
        return inodes
    }

    private static func holds(_ inodes: Set<String>, _ process: Int32) -> Bool {
        let path = "/proc/\(process)/fd"
        guard let names = try? PrivateFolder.names(in: path), let folder = try? RootDirectory(opening: path)
        else { return false }
        for name in names {
            guard let target = try? folder.descriptor.readLink(Array(name.utf8)) else { continue }
            let text = String(decoding: target, as: UTF8.self)
            if text.hasPrefix("socket:["), inodes.contains(String(text.dropFirst(8).dropLast())) {
                return true
            }
        }
        return false
    }
}
