internal import DavitHTTP
public import DavitSystem

/// The reason why a server could not start or could not resume listening, and the endpoint concerned.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason for the failure.
    public enum Reason: Hashable, Sendable {
        /// The address is in use, or was until recently.
        case inUse
        /// The path of a local socket names another file, which is never replaced.
        case notASocket
        /// The process lacks the privilege to bind the address.
        case notPermitted
        /// No interface of this machine has this address.
        case notAvailable
        /// The host name has no address.
        case unknownHost
        /// The host name could not be resolved because the resolver did not respond.
        case lookUpFailed
        /// The configuration has neither an endpoint nor another socket.
        case noEndpoint
        /// The server is already running.
        case alreadyStarted
        /// The server is not running, or is stopping.
        case notRunning
        /// An inherited descriptor is not a listening stream socket; `host` is its number.
        case notListening
        /// Any other system error.
        case system(SystemError)
    }

    /// The reason for the failure.
    public var reason: Reason
    /// The host as configured, the path of a local socket, or the number of an inherited descriptor; empty if
    /// the error does not concern a single endpoint. When listening is resumed, the numeric address.
    public var host: String
    /// The port as configured or, when listening is resumed, as bound; 0 if the error does not concern a host
    /// and a port.
    public var port: UInt16

    /// Creates an error that concerns one endpoint or none.
    public init(_ reason: Reason, host: String = "", port: UInt16 = 0) {
        self.reason = reason
        self.host = host
        self.port = port
    }

    public var description: String {
        let place = host.contains("/") ? host : host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        return switch reason {
        case .inUse: "\(place) is in use"
        case .notASocket: "\(host) exists and is not a socket"
        case .notPermitted: "no permission to listen on \(place)"
        case .notAvailable: "\(place) is not an address of this machine"
        case .unknownHost: "unknown host \(host)"
        case .lookUpFailed: "cannot resolve \(host): the resolver did not respond"
        case .noEndpoint: "no address or socket to listen on"
        case .alreadyStarted: "the server is already running"
        case .notRunning: "the server is not running"
        case .notListening: "descriptor \(host) is not a listening stream socket"
        case .system(let error): host.isEmpty ? "\(error)" : "\(place): \(error)"
        }
    }
}

/// An address on which a server listens.
public struct BoundAddress: Hashable, Sendable {
    /// The numeric address, without brackets; empty for a local socket.
    public var host: String
    /// The port; 0 for a local socket.
    public var port: UInt16
    /// The path of a local socket; nil for an Internet address.
    public var path: String?

    /// Creates an Internet address.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Creates the address of a local socket.
    public init(path: String) {
        host = ""
        port = 0
        self.path = path
    }

    /// The authority part of the URL; for a local socket, the percent-encoded path, including its slashes.
    public var authority: String {
        if let path { return Self.encoded(path) }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Returns the URL, such as `http://127.0.0.1:8080/`; for a local socket
    /// `http+unix://%2Frun%2Fdavit.sock/`, which some clients support.
    /// - Parameter scheme: `http` or `https`.
    public func url(scheme: String = "http") -> String {
        scheme + (path == nil ? "://" : "+unix://") + authority + "/"
    }

    private static func encoded(_ path: String) -> String {
        var text = ""
        for byte in path.utf8 {
            if byte.isUnreserved {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }
}
