public import DavitHTTP

/// Where content is kept that is too long for memory.
public protocol TemporaryStorage: Sendable {
    associatedtype File: TemporaryFile

    /// - Throws: 507 where there is no room, 500 for other failures.
    func makeFile() async throws(HTTPError) -> File
}

/// Content that goes away with the object, unless somebody has given it another place.
public protocol TemporaryFile: AnyObject, Sendable {
    /// Bytes written so far.
    var length: Int64 { get }

    /// Appends a part of the valid bytes of `buffer`, which belongs to the file until the call returns.
    /// - Throws: 507 where there is no room, 500 for other failures.
    func append(_ buffer: IOBuffer, _ range: Range<Int>) async throws(HTTPError)

    /// Reads from `offset` on behind what `buffer` holds.
    /// - Returns: how many bytes were read; 0 at the end.
    func read(at offset: Int64, into buffer: IOBuffer) async throws(HTTPError) -> Int
}
