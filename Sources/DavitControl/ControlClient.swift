internal import DavitSystem

/// A client for the server that owns a state folder.
package enum ControlClient {
    /// The reason why a request failed.
    package enum Problem: Error, Hashable, Sendable {
        /// The socket does not exist, or no process listens on it.
        case notListening
        /// The connection closed before the response was complete.
        case disconnected
        /// The response is invalid.
        case malformed
        /// A system error.
        case failed(reason: String)
    }

    /// Sends `request` and waits for the complete response. Blocks.
    ///
    /// - Parameters:
    ///   - folder: the state folder.
    ///   - timeoutSeconds: the maximum time without data from the server; long by default, because a check
    ///     reads the entire database.
    package static func ask(
        _ request: ControlRequest, in folder: String, timeoutSeconds: Int = 600
    ) throws(Problem) -> ControlResponse {
        do {
            let connection = try LocalConnection(
                folder: folder, name: ControlServer.fileName, timeoutSeconds: timeoutSeconds)
            try connection.send(request.bytes)
            return try answer(from: connection)
        } catch let problem as Problem {
            throw problem
        } catch let error as SystemError {
            throw error.isNotListening ? .notListening : .failed(reason: error.description)
        } catch {
            throw .malformed
        }
    }

    private static func answer(from connection: borrowing LocalConnection) throws -> ControlResponse {
        var received: [UInt8] = []
        while true {
            let bytes = try connection.receive()
            if bytes.isEmpty { throw Problem.disconnected }
            received += bytes
            if let answer = try ControlResponse.parse(received) { return answer }
        }
    }
}
