import DavitSQLite
import DavitStub
import DavitTesting
import Testing

@testable import DavitStub

/// Each reason to build a client against a stub server, as a file of rules in Examples/Stub that users can start
/// from.
struct StubExamplesTests {
    /// Returns a stub server with the rules of an example.
    private func stub(_ name: String, seed: UInt64 = 1) throws -> StubFixture {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let bytes = try SmallFiles.read("/\(root)/Examples/Stub/\(name).json")
        let json = try #require(JSONValue(parsing: bytes))
        let stub = try StubFixture(seed: seed)
        for rule in json.elements ?? [json] { try stub.state.store(try StubRule(json: rule)) }
        return stub
    }

    private func problems(_ response: TestResponse) -> [String] {
        (JSONValue(parsing: response.body)?["problems"]?.elements ?? []).map {
            "\($0["subject"]?.text ?? ""): \($0["problem"]?.text ?? "")"
        }
    }

    @Test func clientDemo() async throws {
        let stub = try stub("client-demo")
        #expect(
            JSONValue(parsing: try await stub.send("GET", "/products").body)?["products"]?.elements?.count
                == 2)
        #expect(JSONValue(parsing: try await stub.send("GET", "/products/7").body)?["name"] == "Product 7")
        #expect(try await stub.send("POST", "/cart/items", [], #"{"product":"7"}"#).status == 201)
        #expect(try await stub.text("GET", "/cart/items") == #"[{"product":"7","id":1}]"#)
    }

    /// The delays are checked by their presence only; their length is measured elsewhere.
    @Test func slowNetwork() async throws {
        let stub = try stub("slow-network")
        #expect(try await stub.text("GET", "/news") == #"[{"title":"It arrived"}]"#)
        let rules = stub.state.rules.map(\.rule.faults)
        #expect(rules == ["down=200kB close-after=100kB first=1", "first-byte=800ms~200ms", "profile=3g"])
    }

    @Test func mandatoryFields() async throws {
        let stub = try stub("mandatory-fields")
        let json = [("Content-Type", "application/json"), ("X-Client-Version", "1")]
        let good = #"{"name":"Anna","email":"anna@example.org"}"#
        #expect(try await stub.send("POST", "/register?lang=de", json, good).status == 201)
        let bad = try await stub.send(
            "POST", "/register", [("Content-Type", "application/json")], #"{"email":"x"}"#)
        #expect(bad.status == 400)
        #expect(problems(bad).count == 4)
        #expect(problems(bad).contains { $0.hasPrefix("field X-Client-Version: ") })
        #expect(problems(bad).contains { $0.hasPrefix("json $.email: ") })
    }

    @Test func largeUpload() async throws {
        let stub = try stub("large-upload")
        // A PNG signature, and the header chunk with 32 × 16 pixels.
        let png: [UInt8] = [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 32,
            0, 0, 0, 16,
            8, 2, 0, 0, 0,
        ]
        let type = [("Content-Type", "image/png")]
        #expect(try await stub.client.send("PUT", "/pictures/a", type, body: png).status == 201)
        let small = png.enumerated().map { $0.offset == 19 ? 8 : $0.element }
        #expect(problems(try await stub.client.send("PUT", "/pictures/a", type, body: small)).count == 1)
        #expect(try await stub.send("PUT", "/pictures/a", type, "not a picture").status == 422)
        #expect(try await stub.send("PUT", "/videos/a", [], "not a video").status == 422)
    }

    @Test func dataFormattingAndValidation() async throws {
        let stub = try stub("data-validation")
        let path = "/patients/0b7e8a1e-6b1c-4c0e-9f5a-0d3f3c1d2e4f"
        let good = #"{"name":"A","born":"1990-02-28","weight":60.5,"phones":["+49 30 1"]}"#
        #expect(try await stub.send("PUT", path, [], good).status == 204)
        let bad = try await stub.send(
            "PUT", "/patients/1", [], #"{"name":"","born":"1990-02-30","weight":0,"x":1}"#)
        #expect(bad.status == 422)
        #expect(problems(bad).count >= 3)
    }

    /// One response in ten is an error, within 3 sigma of 2,000 requests; the same seed gives the same sequence.
    @Test func randomErrorProbability() async throws {
        func statuses(seed: UInt64) async throws -> [UInt16] {
            let stub = try stub("random-errors", seed: seed)
            var found: [UInt16] = []
            for _ in 0..<2000 { found.append(try await stub.send("GET", "/feed").status) }
            return found
        }
        let found = try await statuses(seed: 42)
        #expect((160...240).contains(found.count { $0 == 503 }))
        #expect(try await statuses(seed: 42) == found)
    }

    @Test func userInterfaceRefreshing() async throws {
        let stub = try stub("ui-refreshing")
        var found: [String] = []
        for _ in 0..<4 {
            let status = JSONValue(parsing: try await stub.send("GET", "/orders/1/status").body)?["status"]
            found.append(status?.text ?? "")
        }
        #expect(found == ["received", "packed", "delivered", "delivered"])
        #expect(try await stub.text("GET", "/messages") == #"{"unread":3}"#)
        #expect(try await stub.send("POST", "/messages/read").status == 204)
        #expect(try await stub.text("GET", "/messages") == #"{"unread":0}"#)
    }

    @Test func sessionSetUp() async throws {
        let stub = try stub("session")
        let form = [("Content-Type", "application/x-www-form-urlencoded")]
        #expect(try await stub.send("POST", "/login", form, "user=anna&password=short").status == 401)
        #expect(try await stub.send("GET", "/profile").status == 401)
        let login = try await stub.send("POST", "/login", form, "user=anna&password=long+enough")
        let json = JSONValue(parsing: login.body)
        #expect(json?["user"] == "anna")
        let session = [("Authorization", "Bearer \(json?["token"]?.text ?? "")")]
        #expect(try await stub.send("GET", "/profile", session).status == 200)
        #expect(try await stub.send("POST", "/logout", session).status == 204)
        #expect(try await stub.send("GET", "/profile", session).status == 401)
    }
}
