/// Names and passwords, for ``BasicAuthentication``. Kept in memory only.
public struct Accounts: Sendable {
    /// Why an account cannot be used.
    public enum Problem: Error, Hashable, Sendable {
        /// The name is empty or has a colon (RFC 7617 §2).
        case badName
        case emptyPassword
        /// Over ``Accounts/limitBytes`` in UTF-8.
        case tooLong
        /// A control character, which RFC 7617 §2 forbids in both.
        case controlCharacter
        /// There already is an account of this name.
        case duplicate
    }

    /// The longest name and the longest password, in bytes.
    public static let limitBytes = 256

    private struct Account: Sendable {
        var name: String
        var password: Secret
    }

    private var accounts: [[UInt8]: Account] = [:]

    public init() {}

    public var isEmpty: Bool { accounts.isEmpty }

    public mutating func add(name: String, password: String) throws(Problem) {
        let nameBytes = Array(name.utf8)
        let passwordBytes = Array(password.utf8)
        guard !nameBytes.isEmpty, !nameBytes.contains(UInt8(ascii: ":")) else { throw .badName }
        guard !passwordBytes.isEmpty else { throw .emptyPassword }
        guard nameBytes.count <= Self.limitBytes, passwordBytes.count <= Self.limitBytes else {
            throw .tooLong
        }
        for byte in nameBytes + passwordBytes where byte < 32 || byte == 127 { throw .controlCharacter }
        guard accounts[nameBytes] == nil else { throw .duplicate }
        accounts[nameBytes] = Account(name: name, password: Secret(passwordBytes))
    }

    /// The name of the account, if there is one and the password is its own.
    ///
    /// The work does not depend on the password that is kept, nor on whether the name exists.
    func name(for user: [UInt8], password: [UInt8]) -> String? {
        let account = accounts[user]
        let isRight = (account?.password ?? Secret.decoy).equals(password)
        return isRight ? account?.name : nil
    }
}

/// A password as bytes of fixed length, so that a comparison always takes the same time.
struct Secret: Sendable {
    /// The password, then zeros. A password has no zero byte, so that its end is never in doubt.
    private let padded: [UInt8]

    init(_ password: [UInt8]) {
        padded = password + [UInt8](repeating: 0, count: max(0, Accounts.limitBytes - password.count))
    }

    /// Stands in for the password of an account that does not exist.
    static let decoy = Secret([UInt8](repeating: 1, count: Accounts.limitBytes))

    func equals(_ candidate: [UInt8]) -> Bool {
        var difference = candidate.count > Accounts.limitBytes ? UInt8(1) : 0
        for index in 0..<Accounts.limitBytes {
            let byte = index < candidate.count ? candidate[index] : 0
            difference |= byte ^ padded[index]
        }
        return difference == 0
    }
}
