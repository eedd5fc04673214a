package import DavitSystem

/// Decides about datagrams: who gets an answer, and which. Has no socket and no clock.
struct WSDResponder {
    /// Answers to one source, for each kind of question, are at least this far apart.
    static let intervalNanoseconds: Int64 = 1_000_000_000
    /// The number of sources that are remembered. While all of them have been answered within the interval, no other source gets
    /// an answer.
    static let sourceLimit = 1024

    private struct Answered: Hashable {
        var source: SocketAddress
        var isProbe: Bool
    }

    private(set) var writer: WSDWriter
    private var answered: [Answered: Int64] = [:]

    init(_ device: WSDDevice) { writer = WSDWriter(device) }

    mutating func hello(urls: [String]) -> [UInt8] { writer.write(.hello(urls: urls)) }

    mutating func bye() -> [UInt8] { writer.write(.bye) }

    /// Returns the answer to a datagram, if it has one.
    /// - Parameters:
    ///   - source: where the answer would be sent.
    ///   - urls: where the metadata can be fetched from the network of the source.
    ///   - now: the time in nanoseconds.
    mutating func answer(
        _ datagram: [UInt8], from source: SocketAddress, urls: [String], now: Int64
    ) -> [UInt8]? {
        // Answers are longer than some questions, and the address of the sender can be forged: never send one to another network.
        guard source.isInLocalNetwork, source.port != 0, datagram.count <= WSDRequest.limitBytes,
            !urls.isEmpty,
            let request = try? WSDRequest(parsing: datagram)
        else { return nil }
        switch request.question {
        case .probe(let types, let hasScopes):
            guard !hasScopes, types.allSatisfy({ $0 == .device }), admit(source, isProbe: true, now) else {
                return nil
            }
            return writer.write(.probeMatches(urls: urls, request: request.messageID))
        case .resolve(let address):
            guard address == writer.device.address, admit(source, isProbe: false, now) else { return nil }
            return writer.write(.resolveMatches(urls: urls, request: request.messageID))
        // Metadata is only sent over TCP.
        case .get: return nil
        }
    }

    /// Whether a source has not been answered within the interval. Windows sends each question several times.
    private mutating func admit(_ source: SocketAddress, isProbe: Bool, _ now: Int64) -> Bool {
        var key = Answered(source: source, isProbe: isProbe)
        key.source.port = 0
        if let last = answered[key], now - last < Self.intervalNanoseconds { return false }
        if answered.count >= Self.sourceLimit {
            answered = answered.filter { now - $0.value < Self.intervalNanoseconds }
            if answered.count >= Self.sourceLimit { return false }
        }
        answered[key] = now
        return true
    }
}

extension SocketAddress {
    /// Whether the address belongs to a link or to a private network: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 (RFC 1918),
    /// 169.254.0.0/16, fe80::/10, fc00::/7 (RFC 4193), or a loopback address.
    package var isInLocalNetwork: Bool {
        if isLoopback || isLinkLocal { return family != .local }
        switch family {
        case .ipv4: return low >> 24 == 10 || low >> 20 == 0xAC1 || low >> 16 == 0xC0A8
        case .ipv6: return high >> 57 == 0x7E
        case .local: return false
        }
    }
}
