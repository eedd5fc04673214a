#if canImport(Darwin)
internal import Darwin

extension FileDescriptor {
    /// Copies all content of this file into the empty file `target`; holes are preserved where the volume
    /// supports them.
    ///
    /// - Parameter canShare: not used on this system.
    package borrowing func copyContent(
        to target: borrowing FileDescriptor, status: FileStatus, canShare: inout Bool
    ) throws(SystemError) {
        let (from, to) = (rawValue, target.rawValue)
        _ = try FileCall.run("fcopyfile") {
            unsafe fcopyfile(from, to, nil, copyfile_flags_t(COPYFILE_DATA | COPYFILE_DATA_SPARSE))
        }
    }

    /// Always returns true: without opening a member, the system cannot report whether it has attributes.
    package borrowing func mayHaveAttributes(_ name: [UInt8]) -> Bool { true }

    /// Copies the extended attributes and the access control list of this file to `target`.
    package borrowing func copyAttributes(
        to target: borrowing FileDescriptor, except skipped: [String] = []
    ) throws(SystemError) {
        let (from, to) = (rawValue, target.rawValue)
        do {
            _ = try FileCall.run("fcopyfile") {
                unsafe fcopyfile(from, to, nil, copyfile_flags_t(COPYFILE_XATTR | COPYFILE_ACL))
            }
            for name in skipped {
                do throws(SystemError) {
                    _ = try FileCall.run("fremovexattr") { unsafe fremovexattr(to, name, 0) }
                } catch {
                    if error.code != .noData { throw error }
                }
            }
        } catch {
            switch error.code {
            case .notSupported, .notPermitted, .accessDenied, .noData: return
            default: throw error
            }
        }
    }

    /// Returns the value of an attribute; nil if the file has no such attribute or the volume does not
    /// support attributes.
    package borrowing func attribute(_ name: String) throws(SystemError) -> [UInt8]? {
        let number = rawValue
        var bytes = [UInt8](repeating: 0, count: 1 << 12)
        do {
            let count = try FileCall.run("fgetxattr") {
                unsafe fgetxattr(number, name, &bytes, bytes.count, 0, 0)
            }
            bytes.removeLast(bytes.count - count)
            return bytes
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
        try open(name, for: .content).attribute(attribute).flatMap { $0.count > limit ? nil : $0 }
    }

    package borrowing func setAttribute(_ name: String, to value: [UInt8]) throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("fsetxattr") { unsafe fsetxattr(number, name, value, value.count, 0, 0) }
    }
}
#endif
