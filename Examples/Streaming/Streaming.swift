import Davit

/// Streams content of any length in both directions, using a few kilobytes of memory: `Streaming [PORT]`.
@main struct Streaming {
    static func main() async throws {
        var configuration = Configuration()
        configuration.port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
        configuration.stopsOnSignals = true

        let server = try WebServer(configuration: configuration) { routes in
            // Each row is produced when the connection can accept it.
            routes.get(matching: { /\/squares\/(\d{1,9})/ }) { _, match in
                let count = Int(match.1) ?? 0
                return .stream(type: "text/csv") { writer in
                    for number in 1..<(count + 1) { try await writer.write("\(number),\(number * number)\n") }
                }
            }
            // Each piece is released before the next one is read.
            routes.post("/lines", body: .stream) { _, pieces in
                var (lines, bytes) = (0, 0)
                for try await piece in pieces {
                    bytes += piece.count
                    for byte in piece where byte == UInt8(ascii: "\n") { lines += 1 }
                }
                return .text("\(lines) lines, \(bytes) bytes\n")
            }
        }
        try await server.run { print("Open \($0)squares/1000000") }
    }
}
