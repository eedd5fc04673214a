import DavitFaults
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// The fault `lose-locks` on a share: what a client sees whose lock has been lost.
struct LockLossTests {
    @Test(arguments: [("PUT", "If", 412), ("UNLOCK", "Lock-Token", 409), ("DELETE", "If", 412)])
    func submittedLocksAreLost(_ method: String, _ field: String, _ status: UInt16) async throws {
        let share = try TestShare()
        let faults = try FaultRuleSet(parsing: "\(method) /a lose-locks nth=\(method == "PUT" ? 3 : 2)")
        let client = TestClient(share.client.application.applying(FaultInjector(faults)))
        #expect(try await client.send("PUT", "/a", text: "x").status == 201)
        let locked = try await client.send("LOCK", "/a", text: lockBody(scope: "exclusive"))
        let token = try #require(locked["Lock-Token"])
        // Another method and the first request are not affected.
        #expect(try await client.send("PROPFIND", "/a", [("Depth", "0")]).text.contains("activelock"))
        if method == "PUT" { #expect(try await client.send("PUT", "/a", text: "z").status == 423) }
        if method != "PUT" {
            let other = [("If", "(<urn:uuid:0>)")]
            _ = try await client.send(method, "/a", other, text: "")
        }
        let value = field == "If" ? "(\(token))" : token
        #expect(
            try await client.send(method, "/a", [(field, value)], text: method == "PUT" ? "y" : "").status
                == status)
        #expect(try await !client.send("PROPFIND", "/a", [("Depth", "0")]).text.contains("activelock"))
        #expect(try await client.send("GET", "/a").text == "x")
        #expect(try await client.send("PUT", "/a", text: "z").status == 204)
    }
}
