internal import DavitSystem

/// Files for replies and schemas, which are in the folder of the database.
enum StubFile {
    /// - Throws: ``RuleError`` if the name leaves the folder, or if there is no such file.
    static func check(_ name: String, in folder: String, column: String) throws(RuleError) {
        let segments = name.split(separator: "/", omittingEmptySubsequences: false)
        guard !name.isEmpty, !segments.contains(where: { $0 == ".." || $0.isEmpty }),
            !name.utf8.contains(0)
        else { throw RuleError(column: column, "a file is named relative to the folder of the database") }
        do throws(SystemError) {
            _ = try FileDescriptor.openRegular("\(folder)/\(name)", followsLink: true)
        } catch {
            throw RuleError(column: column, "cannot read \(name) in \(folder): \(error.description)")
        }
    }

    /// Returns the content of a text file.
    /// - Throws: as ``check(_:in:column:)``, and for a file that is too long or not UTF-8.
    static func text(_ name: String, in folder: String, column: String) throws(RuleError) -> String {
        try check(name, in: folder, column: column)
        do throws(SystemError) {
            let bytes = try SmallFile(reading: "\(folder)/\(name)", limitBytes: 4 << 20).bytes
            if let text = String(validating: bytes, as: UTF8.self) { return text }
        } catch {
            throw RuleError(column: column, "cannot read \(name) in \(folder): \(error.description)")
        }
        throw RuleError(column: column, "\(name) is not UTF-8 text")
    }
}
