#if os(Linux)
internal import CLinux
#endif

extension FileDescriptor {
    /// Reserves space on the volume without changing the length of the file. Does nothing where the system cannot.
    /// - Throws: `noSpace`, `overQuota` or `fileTooBig` if there is not enough space.
    package borrowing func reserveSpace(from offset: Int64, count: Int64) throws(SystemError) {
        #if os(Linux)
        let number = rawValue
        do throws(SystemError) {
            _ = try FileCall.run("fallocate") { davit_reserve_space(number, offset, count) }
        } catch {
            switch error.code {
            case .noSpace, .overQuota, .fileTooBig: throw error
            default: return
            }
        }
        #endif
    }
}
