internal import CPageFiles
internal import DavitHTTP
internal import DavitServer
internal import Synchronization

/// The scripts, styles, images and texts of the browser page, embedded in the binary. Their URLs contain a
/// common version, so that browsers can cache them without revalidation and never mix two versions.
package final class PageFiles: Sendable {
    package static let shared = PageFiles()

    /// A file in the form in which it is sent.
    struct File: Sendable {
        let bytes: [UInt8]
        /// The content compressed with gzip; nil until it is first requested, or if it is not shorter.
        var coded: [UInt8]?
        let type: StaticString
        let tag: [UInt8]
    }

    /// A fingerprint of all files as they are sent.
    package let version: String
    private let files: Mutex<[String: File]>
    /// The original content of each file.
    private let sources: [String: [UInt8]]

    private init() {
        var files: [String: File] = [:]
        var sources: [String: [UInt8]] = [:]
        var all = Fingerprint()
        for index in 0..<davit_page_file_count() {
            let entry = unsafe davit_page_file_at(index)
            let name = unsafe String(cString: entry.name)
            let source = unsafe Array(UnsafeBufferPointer(start: entry.bytes, count: entry.count))
            let bytes = CompactText.of(source, named: name)
            sources[name] = source
            all.combine(Array(name.utf8))
            all.combine(bytes)
            var own = Fingerprint()
            own.combine(bytes)
            files[name] = File(
                bytes: bytes, type: MediaType.forName(Array(name.utf8)), tag: Array("\"\(own.text)\"".utf8))
        }
        version = all.text
        self.sources = sources
        self.files = Mutex(files)
    }

    /// The names of all files, unordered.
    package var names: [String] { Array(sources.keys) }

    /// Returns the original content of a file.
    package func source(of name: String) -> [UInt8]? { sources[name] }

    /// Returns the compacted content of a file, as it is sent.
    package func bytes(of name: String) -> [UInt8]? { files.withLock { $0[name]?.bytes } }

    /// Returns the compacted content compressed with gzip; nil if that is not shorter.
    package func codedBytes(of name: String) -> [UInt8]? { file(name, isCoded: true)?.coded }

    /// Returns the response to GET and HEAD.
    /// - Parameter path: the version and the segments of the name.
    /// - Returns: nil for another version or a missing file.
    func response(at path: [ArraySlice<UInt8>], for request: HTTPRequest) -> HTTPResponse? {
        guard path.first?.elementsEqual(version.utf8) == true else { return nil }
        let name = String(
            decoding: Array(path.dropFirst().joined(separator: [UInt8(ascii: "/")])), as: UTF8.self)
        let isCoded = AcceptEncoding(of: request).choice == .gzip
        guard let file = file(name, isCoded: isCoded) else { return nil }
        var fields = HTTPFields()
        fields.append(.contentType, file.type)
        fields.append(.cacheControl, "max-age=31536000, immutable")
        fields.append(.xContentTypeOptions, "nosniff")
        fields.append(.vary, "Accept-Encoding")
        if isCoded, let coded = file.coded {
            fields.append(.contentEncoding, "gzip")
            return HTTPResponse(status: .ok, fields: fields, body: .bytes(coded))
        }
        fields.append(.etag, file.tag)
        return HTTPResponse(status: .ok, fields: fields, body: .bytes(file.bytes)).conditional(for: request)
    }

    private func file(_ name: String, isCoded: Bool) -> File? {
        files.withLock { files in
            guard var file = files[name] else { return nil }
            if isCoded, file.coded == nil, let coded = Compression.encodeOnce(file.bytes),
                coded.count < file.bytes.count
            {
                file.coded = coded
                files[name] = file
            }
            return file
        }
    }
}

/// 64-bit FNV-1a. Distinguishes versions; not cryptographic.
private struct Fingerprint {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ bytes: [UInt8]) {
        for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        state = (state ^ 0x100) &* 0x100_0000_01B3
    }

    /// 16 hexadecimal digits.
    var text: String {
        let digits = String(state, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
