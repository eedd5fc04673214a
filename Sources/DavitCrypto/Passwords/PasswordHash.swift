#if TLS
/// A password hash: salted, and slow to guess.
///
/// Its text is `$scrypt$ln=15,r=8,p=1$SALT$HASH`, with unpadded Base64, as in other programs. The text is a
/// separate property, so that the hash is not printed accidentally.
package struct PasswordHash: Equatable, Sendable {
    /// The reason why a text is not a valid hash. Never contains part of the text.
    package enum ParseError: Error, Equatable, Sendable {
        /// Not `$scrypt$ln=N,r=N,p=N$SALT$HASH`.
        case malformed
        /// The parameters are invalid or exceed ``Scrypt/Cost/limit``.
        case costOutOfRange
        /// The salt is not 8 to 64 bytes long, or the hash is not 16 to 64 bytes long.
        case lengthOutOfRange
    }

    package static let saltLengths = 8...64
    package static let hashLengths = 16...64

    package let cost: Scrypt.Cost
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// Hashes a password with a new 16-byte salt. Blocks for 50 to 100 ms with the standard cost.
    package init(of password: [UInt8], cost: Scrypt.Cost = .standard) throws(CryptoError) {
        try self.init(of: password, salt: RandomBytes.make(count: 16), cost: cost)
    }

    package init(of password: [UInt8], salt: [UInt8], cost: Scrypt.Cost) throws(CryptoError) {
        self.cost = cost
        self.salt = salt
        hash = try Scrypt.derive(from: password, salt: salt, cost: cost, count: 32)
    }

    /// Whether `password` matches. Blocks for as long as creating the hash took, regardless of the password.
    ///
    /// Trailing zero bytes are ignored, because HMAC, the first step of scrypt, pads its key with them.
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

    /// Parses up to nine digits; `Int` would also accept a sign.
    private static func number(after name: String, in parameter: Substring) -> Int? {
        guard parameter.hasPrefix(name) else { return nil }
        let digits = parameter.utf8.dropFirst(name.utf8.count)
        guard 1...9 ~= digits.count, digits.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }
}

extension PasswordHash: CustomStringConvertible {
    package var description: String { "scrypt hash" }
}
#endif
