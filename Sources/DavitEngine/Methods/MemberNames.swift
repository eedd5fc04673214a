internal import DavitHTTP
internal import DavitServer
internal import DavitWebDAV

/// The names to try for a member whose name the server chooses, the best one first.
struct MemberNames {
    /// With a number behind them; after that, names nobody else can have.
    private static let numberedLimit = 9
    private static let randomLimit = 4

    let names: [[UInt8]]

    /// Of `Slug` and, as the type of stored content follows from its name, of Content-Type.
    init(for request: HTTPRequest) {
        let proposed = request.string(named: "Slug").flatMap { Slug.name(from: Array($0.utf8)) }
        let name = Self.withSuffix(proposed, for: request.contentType?.essence)
        let dot = name.lastIndex(of: UInt8(ascii: ".")) ?? name.count
        let (stem, suffix) = (name[..<dot], name[dot...])
        var names = [name]
        if proposed != nil {
            for number in 2...Self.numberedLimit { names.append(stem + Array("-\(number)".utf8) + suffix) }
        }
        for _ in 0..<Self.randomLimit { names.append(stem + [UInt8(ascii: "-")] + Self.random() + suffix) }
        self.names = names
    }

    /// Adds the extension of the type to a name that has none.
    private static func withSuffix(_ proposed: [UInt8]?, for type: String?) -> [UInt8] {
        let name = proposed ?? random()
        let hasSuffix = name.dropFirst().contains(UInt8(ascii: "."))
        guard !hasSuffix, let type, let suffix = MediaType.suffix(for: type) else { return name }
        return name + [UInt8(ascii: ".")] + suffix
    }

    private static func random() -> [UInt8] {
        Array(String(UInt64.random(in: .min ... .max), radix: 36).utf8)
    }
}
