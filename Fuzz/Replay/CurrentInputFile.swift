#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file that contains the input that is being parsed, so that the input is known after the process has ended for any
/// reason, including a trap, a signal or a lack of memory.
///
/// The file is mapped, because a system call per input would take longer than most targets. It contains the length as
/// eight decimal digits, a line feed, the input, and possibly the rest of an earlier, longer input.
@safe final class CurrentInputFile {
    private static let headerLength = 9
    private let memory: UnsafeMutableRawBufferPointer

    /// - Parameter capacity: the maximum length of an input, less than 100 million.
    init(path: String, capacity: Int) throws(ReplayError) {
        let size = capacity + Self.headerLength
        let file = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw ReplayError(status: 73, message: "cannot create \(path)") }
        defer { close(file) }
        guard ftruncate(file, off_t(size)) == 0,
            case let start = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
            unsafe start != MAP_FAILED
        else { throw ReplayError(status: 74, message: "cannot map \(path)") }
        unsafe memory = UnsafeMutableRawBufferPointer(start: start, count: size)
    }

    deinit { unsafe _ = munmap(memory.baseAddress, memory.count) }

    func store(_ input: [UInt8]) {
        var length = input.count
        for index in (0..<Self.headerLength - 1).reversed() {
            unsafe memory[index] = UInt8(ascii: "0") + UInt8(length % 10)
            length /= 10
        }
        unsafe memory[Self.headerLength - 1] = UInt8(ascii: "\n")
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[Self.headerLength...]).copyBytes(from: input)
    }
}
