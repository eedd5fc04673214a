public import DavitSystem

/// Why a server could not start: the endpoint, and what stood in the way.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        /// Another program listens there, or did a moment ago.
        case inUse
        /// The port is reserved for privileged programs.
        case notPermitted
        /// No interface of this machine has the address.
        case notAvailable
        case unknownHost
        /// The resolver did not answer.
        case lookUpFailed
        /// There is no endpoint to listen on.
        case noEndpoint
        /// The server runs already.
        case alreadyStarted
        /// The server does not run, or is about to stop.
        case notRunning
        case system(SystemError)
    }

    public var reason: Reason
    /// The endpoint as configured; empty where no single endpoint is to blame.
    public var host: String
    public var port: UInt16

    public init(_ reason: Reason, host: String = "", port: UInt16 = 0) {
        self.reason = reason
        self.host = host
        self.port = port
    }

    public var description: String {
        let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        return switch reason {
        case .inUse: "\(place) is in use"
        case .notPermitted: "\(place) needs privileges"
        case .notAvailable: "\(place) is not an address of this machine"
        case .unknownHost: "\(host) is not a known host"
        case .lookUpFailed: "the address of \(host) could not be looked up"
        case .noEndpoint: "no endpoint to listen on"
        case .alreadyStarted: "the server runs already"
        case .notRunning: "the server does not run"
        case .system(let error): host.isEmpty ? "\(error)" : "\(place): \(error)"
        }
    }
}

/// Where a server listens.
public struct BoundAddress: Hashable, Sendable {
    /// Numeric, without brackets.
    public var host: String
    public var port: UInt16

    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// As it stands in a URL.
    public var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
