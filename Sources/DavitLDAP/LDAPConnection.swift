#if LDAP
internal import CLDAP

/// A result code other than success, of the directory or of libldap.
struct LDAPError: Error, Hashable {
    let call: String
    let code: Int32
    let text: String

    init(_ call: String, _ code: Int32) {
        self.call = call
        self.code = code
        text = unsafe String(cString: ldap_err2string(code))
    }

    /// Whether the connection can no longer be used, or the directory cannot answer at present. Codes of libldap are
    /// negative.
    var isUnavailable: Bool { code < 0 || code == LDAP_BUSY || code == LDAP_UNAVAILABLE }

    var reason: String { "\(call): \(text)" }
}

/// An entry that was found, with the requested attributes.
struct LDAPEntry: Hashable, Sendable {
    let name: String
    /// The values that are UTF-8, by the attribute names of the request.
    let values: [String: [String]]
}

/// A connection to a directory. Its calls block, for at most ``timeout`` each.
///
/// `@unchecked Sendable` because one job at a time uses it.
@safe final class LDAPConnection: @unchecked Sendable {
    /// Maximum duration of a call in seconds.
    static let timeout: Int32 = 5

    private let handle: OpaquePointer

    /// Connects, and encrypts the connection unless the settings prevent it.
    init(_ settings: LDAPSettings) throws(LDAPError) {
        var made: OpaquePointer?
        let code = unsafe ldap_initialize(&made, settings.url)
        guard code == LDAP_SUCCESS, let made = unsafe made else { throw LDAPError("ldap_initialize", code) }
        unsafe handle = made
        try check("ldap_set_option", unsafe davit_ldap_prepare(handle, Self.timeout))
        try check(
            "ldap_set_option", unsafe davit_ldap_require_certificate(handle, settings.authorities))
        // The URLs of one directory have the same kind.
        let first = settings.url.split(separator: " ").first
        guard first?.hasPrefix("ldap:") == true, !settings.isPlain else { return }
        try check("StartTLS", unsafe ldap_start_tls_s(handle, nil, nil))
    }

    deinit { unsafe davit_ldap_close(handle) }

    private func check(_ call: String, _ code: Int32) throws(LDAPError) {
        guard code == LDAP_SUCCESS else { throw LDAPError(call, code) }
    }

    func bind(_ name: String, password: String) throws(LDAPError) {
        try check("bind", unsafe davit_ldap_bind(handle, name, password, password.utf8.count))
    }

    /// Returns the entries that match a filter.
    /// - Parameters:
    ///   - isSubtree: whether to search below `base`, or only `base` itself.
    ///   - limit: the maximum number of entries; more are an error.
    func search(
        _ base: String, isSubtree: Bool = true, _ filter: String, attributes: [String], limit: Int32
    ) throws(LDAPError) -> [LDAPEntry] {
        let names = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
            capacity: attributes.count + 1)
        for (index, name) in attributes.enumerated() { unsafe names[index] = Self.copy(name) }
        unsafe names[attributes.count] = nil
        defer {
            for index in attributes.indices { unsafe names[index]?.deallocate() }
            unsafe names.deallocate()
        }
        var result: OpaquePointer?
        let code = unsafe davit_ldap_search(
            handle, base, isSubtree ? 1 : 0, filter, names, Self.timeout, limit, &result)
        defer { if let result = unsafe result { unsafe ldap_msgfree(result) } }
        try check("search", code)
        var entries: [LDAPEntry] = []
        var next = unsafe ldap_first_entry(handle, result)
        while let entry = unsafe next {
            entries.append(unsafe read(entry, attributes))
            unsafe next = unsafe ldap_next_entry(handle, entry)
        }
        return entries
    }

    private static func copy(_ text: String) -> UnsafeMutablePointer<CChar> {
        let bytes = text.utf8CString
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (index, byte) in bytes.enumerated() { unsafe memory[index] = byte }
        return unsafe memory
    }

    private func read(_ entry: OpaquePointer, _ attributes: [String]) -> LDAPEntry {
        var name = ""
        if let text = unsafe ldap_get_dn(handle, entry) {
            name = unsafe String(cString: text)
            unsafe ldap_memfree(text)
        }
        var values: [String: [String]] = [:]
        for attribute in attributes {
            guard let found = unsafe ldap_get_values_len(handle, entry, attribute) else { continue }
            for index in 0..<Int(unsafe ldap_count_values_len(found)) {
                guard let value = unsafe found[index] else { continue }
                let bytes = unsafe UnsafeRawBufferPointer(
                    start: value.pointee.bv_val, count: Int(value.pointee.bv_len))
                guard let text = unsafe String(validating: bytes, as: UTF8.self) else { continue }
                values[attribute, default: []].append(text)
            }
            unsafe ldap_value_free_len(found)
        }
        return LDAPEntry(name: name, values: values)
    }
}
#endif
