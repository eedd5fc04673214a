#if TLS
/// A password as it may be kept: salted, and slow to guess.
///
/// Its text is `$scrypt$ln=15,r=8,p=1$SALT$HASH`, with Base64 without padding, as other programs write it. Not
/// printable by accident: the text is a property of its own.
package struct PasswordHash: Equatable, Sendable {
    /// Why a text is not a hash. Never has a part of the text.
    package enum ParseError: Error, Equatable, Sendable {
        /// Not `$scrypt$ln=N,r=N,p=N$SALT$HASH`.
        case malformed
        /// The parameters mean nothing, or ask for more than ``Scrypt/Cost/limit``.
        case costOutOfRange
        /// A salt of less than 8 or more than 64 bytes, or a hash of less than 16 or more than 64.
        case lengthOutOfRange
    }

    package static let saltLengths = 8...64
    package static let hashLengths = 16...64

    package let cost: Scrypt.Cost
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// Hashes a password with a new salt of 16 bytes. Blocks for 50 to 100 ms with the standard cost.
    package init(of password: [UInt8], cost: Scrypt.Cost = .standard) throws(CryptoError) {
        try self.init(of: password, salt: RandomBytes.make(count: 16), cost: cost)
    }

    package init(of password: [UInt8], salt: [UInt8], cost: Scrypt.Cost) throws(CryptoError) {
        self.cost = cost
        self.salt = salt
        hash = try Scrypt.derive(from: password, salt: salt, cost: cost, count: 32)
    }

    /// Whether this is the password. Blocks as long as making the hash took, whatever the password is.
    ///
    /// Zero bytes at the end do not count: HMAC, which scrypt begins with, fills its key up with them.
    package func matches(_ password: [UInt8]) throws(CryptoError) -> Bool {
        let candidate = try Scrypt.derive(from: password, salt: salt, cost: cost, count: hash.count)
        return ConstantTime.areEqual(candidate, hash)
    }

    package var text: String {
        let salt = UnpaddedBase64.encode(salt)
        let hash = UnpaddedBase64.encode(hash)
        return "$scrypt$ln=\(cost.logN),r=\(cost.r),p=\(cost.p)$\(salt)$\(hash)"
    }

    package init(parsing text: String) throws(ParseError) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt" else { throw .malformed }
        let parameters = parts[2].split(separator: ",", omittingEmptySubsequences: false)
        guard parameters.count == 3, let logN = Self.number(after: "ln=", in: parameters[0]),
            let r = Self.number(after: "r=", in: parameters[1]),
            let p = Self.number(after: "p=", in: parameters[2]),
            let salt = UnpaddedBase64.decode(parts[3]), let hash = UnpaddedBase64.decode(parts[4])
        else { throw .malformed }
        guard let cost = Scrypt.Cost(logN: logN, r: r, p: p) else { throw .costOutOfRange }
        guard Self.saltLengths ~= salt.count, Self.hashLengths ~= hash.count else { throw .lengthOutOfRange }
        self.cost = cost
        self.salt = salt
        self.hash = hash
    }

    /// Digits only, and few: `Int` would also take a sign.
    private static func number(after name: String, in parameter: Substring) -> Int? {
        guard parameter.hasPrefix(name) else { return nil }
        let digits = parameter.utf8.dropFirst(name.utf8.count)
        guard 1...9 ~= digits.count, digits.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }
}

extension PasswordHash: CustomStringConvertible {
    package var description: String { "a scrypt hash" }
}
#endif
