import DavitHTTP
import DavitOutbox
import DavitSystem
import DavitTesting
import Testing

struct CommandReceiverTests {
    private static let record = Array(#"{"op":"move","path":"/a b","to":"/ä\"","user":"anna"}"#.utf8)

    private static func deliver(_ script: String, seconds: Int64 = 3_600) -> DeliveryResult {
        let receiver = CommandReceiver("/bin/sh", arguments: ["-c", script], seconds: seconds)
        return receiver.deliver(DeliveredEvent(id: "x1", sequence: 7, record: record)) { false }
    }

    static let results: [(script: String, result: DeliveryResult)] = [
        ("cat >/dev/null", .delivered), ("exit 0", .delivered),
        ("exit 1", .refused(reason: "exit status 1")),
        ("echo broken; exit 2", .refused(reason: "exit status 2: broken")),
        ("echo later >&2; exit 75", .unavailable(reason: "exit status 75: later")),
        ("kill -9 $$", .unavailable(reason: "signal 9 has ended it")),
    ]

    @Test(arguments: results)
    func statusDecides(script: String, result: DeliveryResult) { #expect(Self.deliver(script) == result) }

    @Test func slowProgramsAreEnded() {
        #expect(
            Self.deliver("exec sleep 100000", seconds: 0) == .unavailable(reason: "it did not end in time"))
        let receiver = CommandReceiver("/bin/sleep", arguments: ["100000"])
        let event = DeliveredEvent(id: "x1", sequence: 7, record: Self.record)
        #expect(receiver.deliver(event) { true } == .cancelled)
    }

    @Test func eventIsInputAndEnvironment() throws {
        let folder = try TemporaryFolder()
        #expect(Self.deliver("cat >\(folder.path)/in; env >\(folder.path)/env") == .delivered)
        let input = try SmallFile(reading: folder.path + "/in").bytes
        #expect(
            String(decoding: input, as: UTF8.self)
                == #"{"id":"x1","sequence":7,"op":"move","path":"/a b","to":"/ä\"","user":"anna"}"#)
        let environment = String(decoding: try SmallFile(reading: folder.path + "/env").bytes, as: UTF8.self)
        let variables = environment.split(separator: "\n").filter { $0.hasPrefix("DAVIT_") }.sorted()
        #expect(
            variables == [
                "DAVIT_ID=x1", "DAVIT_OP=move", "DAVIT_PATH=/a b", "DAVIT_TO=/ä\"", "DAVIT_USER=anna",
            ])
    }
}
