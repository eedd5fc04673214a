#if os(Linux)
internal import CLinux
internal import Synchronization

extension FileDescriptor {
    /// Copies the extended attributes of this file, including access control lists, to `target`.
    ///
    /// Skips `skipped`, attributes that the target's volume does not support or this process may not set, and those that
    /// describe the old content (capabilities, integrity).
    package borrowing func copyAttributes(
        to target: borrowing FileDescriptor, except skipped: [String] = []
    ) throws(SystemError) {
        for name in try attributeNames() where !skipped.contains(name) && !Self.describesBytes(name) {
            do {
                guard let value = try attribute(name) else { continue }
                try target.setAttribute(name, to: value)
            } catch {
                switch error.code {
                case .notSupported, .notPermitted, .accessDenied, .noData, .invalid, .readOnlyVolume: continue
                default: throw error
                }
            }
        }
    }

    /// Returns false if a member that is not a link has no extended attributes, so that it need not be opened
    /// to copy them.
    package borrowing func mayHaveAttributes(_ name: [UInt8]) -> Bool {
        if Self.cannotList.load(ordering: .relaxed) { return true }
        let directory = rawValue
        do {
            return try unsafe withCPath(name) { text throws(SystemError) in
                try FileCall.run("listxattrat") { unsafe davit_listxattrat(directory, text) } > 0
            }
        } catch {
            if error.code == .notSupported { return false }
            if Self.isMissingCall(error) { Self.cannotList.store(true, ordering: .relaxed) }
            return true
        }
    }

    private static let cannotList = Atomic<Bool>(false)

    /// Whether the system lacks a call that names a member: kernels before 6.13, and some sandboxes.
    private static func isMissingCall(_ error: SystemError) -> Bool {
        error.isUnsupported || error.code == .notPermitted
    }

    /// Returns the value of an attribute; nil if the file has no such attribute or the volume does not
    /// support attributes.
    package borrowing func attribute(_ name: String) throws(SystemError) -> [UInt8]? {
        let number = rawValue
        do {
            return try Self.growing { buffer throws(SystemError) in
                try FileCall.run("fgetxattr") {
                    unsafe davit_fgetxattr(number, name, &buffer, buffer.count)
                }
            }
        } catch {
            if error.code == .noData || error.code == .notSupported { return nil }
            throw error
        }
    }

    /// Returns the value of an attribute of a member, which must not be a FIFO or a device; nil if it has no such attribute, the
    /// volume does not support attributes, or the value is longer than `limit` bytes.
    package borrowing func attribute(
        _ attribute: String, of name: [UInt8], limit: Int
    ) throws(SystemError) -> [UInt8]? {
        let directory = rawValue
        var value = [UInt8](repeating: 0, count: limit)
        do {
            let count = try unsafe withCPath(name) { text throws(SystemError) in
                try FileCall.run("getxattrat") {
                    unsafe davit_getxattrat(directory, text, attribute, &value, UInt32(limit))
                }
            }
            value.removeLast(limit - count)
            return value
        } catch {
            switch error.code {
            case .noData, .notSupported, .bufferTooSmall: return nil
            default: if !Self.isMissingCall(error) { throw error }
            }
            return try open(name, for: .content).attribute(attribute).flatMap { $0.count > limit ? nil : $0 }
        }
    }

    package borrowing func setAttribute(_ name: String, to value: [UInt8]) throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("fsetxattr") { unsafe davit_fsetxattr(number, name, value, value.count) }
    }

    private borrowing func attributeNames() throws(SystemError) -> [String] {
        let number = rawValue
        do {
            let names = try Self.growing { buffer throws(SystemError) in
                try FileCall.run("flistxattr") {
                    unsafe davit_flistxattr(number, &buffer, buffer.count)
                }
            }
            return names.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        } catch {
            if error.code == .notSupported { return [] }
            throw error
        }
    }

    /// Calls `call` with a small buffer and, if that is too small, with one of the maximum size.
    private static func growing(
        _ call: (inout [UInt8]) throws(SystemError) -> Int
    ) throws(SystemError) -> [UInt8] {
        for capacity in [1024, 1 << 16] {
            var bytes = [UInt8](repeating: 0, count: capacity)
            do throws(SystemError) {
                let count = try call(&bytes)
                bytes.removeLast(capacity - count)
                return bytes
            } catch {
                if error.code != .bufferTooSmall || capacity > 1024 { throw error }
            }
        }
        return []
    }

    private static func describesBytes(_ name: String) -> Bool {
        name == "security.capability" || name == "security.ima" || name == "security.evm"
    }
}
#endif
