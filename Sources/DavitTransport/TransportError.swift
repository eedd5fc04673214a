internal import DavitHTTP
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
        /// A descriptor that was handed over is no stream socket that listens; `host` is its number.
        case notListening
        case system(SystemError)
    }

    public var reason: Reason
    /// The endpoint as configured, or the path of a local socket; empty where no single endpoint is to blame.
    public var host: String
    public var port: UInt16

    public init(_ reason: Reason, host: String = "", port: UInt16 = 0) {
        self.reason = reason
        self.host = host
        self.port = port
    }

    public var description: String {
        let place = host.contains("/") ? host : host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        return switch reason {
        case .inUse: "\(place) is in use"
        case .notPermitted: "\(place) needs privileges"
        case .notAvailable: "\(place) is not an address of this machine"
        case .unknownHost: "\(host) is not a known host"
        case .lookUpFailed: "the address of \(host) could not be looked up"
        case .noEndpoint: "no endpoint to listen on"
        case .alreadyStarted: "the server runs already"
        case .notRunning: "the server does not run"
        case .notListening: "descriptor \(host) is no stream socket that listens"
        case .system(let error): host.isEmpty ? "\(error)" : "\(place): \(error)"
        }
    }
}

/// Where a server listens.
public struct BoundAddress: Hashable, Sendable {
    /// Numeric, without brackets; empty for a local socket.
    public var host: String
    /// 0 for a local socket.
    public var port: UInt16
    /// The path of a local socket; nil for an Internet address.
    public var path: String?

    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    public init(path: String) {
        host = ""
        port = 0
        self.path = path
    }

    /// As it stands in a URL; the path of a local socket with its slashes encoded.
    public var authority: String {
        if let path { return Self.encoded(path) }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// `http://127.0.0.1:8080/`; for a local socket `http+unix://%2Frun%2Fdavit.sock/`, which some clients understand.
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
