#if Archive
internal import CArchive

/// Writes one ZIP file incrementally into memory, from which the caller takes it. Uses zip64 where necessary,
/// marks UTF-8 names as such, stores modification times in whole seconds, and writes lengths and checksums
/// after the content, when they are known.
///
/// The central directory is kept in memory until the end: about a hundred bytes plus the path for each entry.
/// Calls can take as long as compressing their content, so they must be made on a thread that may block. Used
/// by one task at a time.
@safe package final class ZIPWriter {
    /// The output of libarchive.
    fileprivate final class Output {
        @safe @exclusivity(unchecked) var bytes: [UInt8] = []
        /// Set when the remaining output is to be discarded.
        @safe @exclusivity(unchecked) var isAbandoned = false

        func append(_ piece: UnsafeRawBufferPointer) {
            if !isAbandoned { unsafe bytes.append(contentsOf: piece) }
        }
    }

    /// The fastest level: it compresses text to about a quarter at the speed of a fast network. The next
    /// levels take twice the time to save another tenth.
    private static let level = "1"

    private let archive: OpaquePointer
    private let entry: OpaquePointer
    private let utf8: UnsafeMutableRawPointer?
    private let output: Output
    /// The number of bytes of ``output`` that have been taken.
    @safe @exclusivity(unchecked) private var takenCount = 0
    /// The number of bytes that the open entry still requires.
    @safe @exclusivity(unchecked) private var missing: Int64 = 0

    package init() throws(ArchiveError) {
        guard let archive = unsafe archive_write_new() else { throw .outOfMemory }
        guard let entry = unsafe archive_entry_new() else {
            unsafe archive_write_free(archive)
            throw .outOfMemory
        }
        unsafe (self.archive, self.entry) = (archive, entry)
        unsafe utf8 = davit_utf8_locale()
        output = Output()
        let context = unsafe Unmanaged.passUnretained(output).toOpaque()
        // With a block size of 0, libarchive passes on all data without copying it into blocks.
        let statuses = unsafe [
            archive_write_set_format_zip(archive),
            archive_write_set_format_option(archive, "zip", "compression-level", Self.level),
            archive_write_set_bytes_per_block(archive, 0),
            archive_write_open(archive, context, nil, takeBytes, nil),
        ]
        if statuses.contains(where: { $0 != ARCHIVE_OK }) { throw failure }
    }

    deinit {
        // libarchive completes the archive and releases its memory.
        output.isAbandoned = true
        unsafe archive_write_free(archive)
        unsafe archive_entry_free(entry)
        unsafe davit_free_locale(utf8)
    }

    /// Begins an entry; the previous one must have ended.
    package func begin(_ new: ZIPEntry) throws(ArchiveError) {
        unsafe archive_entry_clear(entry)
        var path = new.path
        path.append(0)
        unsafe path.withUnsafeBytes {
            unsafe archive_entry_copy_pathname(entry, $0.bindMemory(to: CChar.self).baseAddress)
        }
        let isFolder = new.kind == .folder
        let mode = isFolder || new.isExecutable ? 0o755 : 0o644
        unsafe archive_entry_set_mode(
            entry, mode_t(mode | Int(isFolder ? davit_entry_folder : davit_entry_file)))
        unsafe archive_entry_set_size(entry, new.length)
        // The format has a 32-bit field; libarchive would truncate larger values.
        let seconds = min(max(new.modifiedSeconds, Int64(Int32.min)), Int64(UInt32.max))
        unsafe archive_entry_set_mtime(entry, time_t(seconds), 0)
        let status =
            switch new.method {
            case .stored: unsafe archive_write_zip_set_compression_store(archive)
            case .deflated: unsafe archive_write_zip_set_compression_deflate(archive)
            }
        guard status == ARCHIVE_OK else { throw failure }
        let locale = unsafe String(validating: new.path, as: UTF8.self) == nil ? nil : utf8
        // Accept warnings, which would only concern names that cannot be converted; no name is converted
        // here.
        guard unsafe davit_write_header(archive, entry, locale) >= ARCHIVE_WARN else { throw failure }
        missing = new.length
    }

    /// Appends to the content of the entry; bytes beyond its length are ignored.
    package func write(_ content: UnsafeRawBufferPointer) throws(ArchiveError) {
        var rest = unsafe UnsafeRawBufferPointer(rebasing: content.prefix(Int(clamping: missing)))
        while rest.count > 0 {
            let written = unsafe archive_write_data(archive, rest.baseAddress, rest.count)
            guard written > 0 else { throw failure }
            missing -= Int64(written)
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }

    /// Ends the entry. Missing content is filled with zeros, incrementally.
    /// - Returns: true if it must be called again.
    package func endEntry() throws(ArchiveError) -> Bool {
        if missing > 0 {
            try unsafe zeros.span.withUnsafeBytes { bytes throws(ArchiveError) in try unsafe write(bytes) }
            return true
        }
        guard unsafe archive_write_finish_entry(archive) == ARCHIVE_OK else { throw failure }
        return false
    }

    /// Writes the central directory, which completes the file.
    package func finish() throws(ArchiveError) {
        guard unsafe archive_write_close(archive) == ARCHIVE_OK else { throw failure }
    }

    /// The number of bytes that can be taken.
    package var count: Int { output.bytes.count - takenCount }

    /// Passes the pending output to `body`, and removes as many bytes as `body` returns.
    package func take(_ body: (UnsafeRawBufferPointer) -> Int) {
        takenCount += unsafe output.bytes.withUnsafeBytes {
            unsafe body(UnsafeRawBufferPointer(rebasing: $0.dropFirst(takenCount)))
        }
        if takenCount >= output.bytes.count {
            output.bytes.removeAll(keepingCapacity: true)
            takenCount = 0
        }
    }

    private var failure: ArchiveError {
        unsafe archive_error_string(archive).map { unsafe .failed(reason: String(cString: $0)) }
            ?? .outOfMemory
    }
}

private let zeros = [UInt8](repeating: 0, count: 1 << 16)

private func takeBytes(
    _ archive: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?, _ count: Int
) -> Int {
    guard let context = unsafe context, let bytes = unsafe bytes else { return 0 }
    unsafe Unmanaged<ZIPWriter.Output>.fromOpaque(context).takeUnretainedValue()
        .append(UnsafeRawBufferPointer(start: bytes, count: count))
    return count
}
#endif
