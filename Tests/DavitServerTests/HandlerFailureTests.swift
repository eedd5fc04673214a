import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

struct HandlerFailureTests {
    struct Secret: Error { var password = "open sesame" }

    static func routes(_ routes: inout Routes) {
        routes.get("/secret") { _ in throw Secret() }
        routes.get("/teapot") { _ in throw HTTPError(HTTPStatus(418), "short <and> stout") }
        routes.get("/gone") { _ in throw HTTPError.disconnected }
    }

    @Test func unexpectedErrorIs500WithOnlyARequestID() async throws {
        let reported = Mutex<[HandlerFailure]>([])
        let router = Router(report: { failure in reported.withLock { $0.append(failure) } }, Self.routes)
        let response = try await TestClient(router).send("GET", "/secret?x=1")
        let failure = try #require(reported.withLock { $0.first })
        #expect(failure.error is Secret)
        #expect(failure.method == .get)
        #expect(failure.rawPath == Array("/secret".utf8))
        #expect(failure.requestID.utf8.count == 16)
        #expect(response.status == 500)
        #expect(response["X-Request-Id"] == failure.requestID)
        #expect(response.text.contains(failure.requestID))
        #expect(!response.text.contains("sesame"))
        #expect(!response.text.contains("Secret"))

        _ = try await TestClient(router).send("GET", "/secret")
        #expect(Set(reported.withLock { $0.map(\.requestID) }).count == 2)
    }

    @Test func httpErrorKeepsItsStatusAndReason() async throws {
        let reported = Mutex(0)
        let client = TestClient(Router(report: { _ in reported.withLock { $0 += 1 } }, Self.routes))
        let text = try await client.send("GET", "/teapot")
        #expect(text.status == 418)
        #expect(text.text == "short <and> stout\n")
        let page = try await client.send("GET", "/teapot", [("Accept", "text/html,*/*;q=0.8")])
        #expect(page.status == 418)
        #expect(page["Content-Type"] == "text/html; charset=utf-8")
        #expect(page.text.contains("short &lt;and&gt; stout"))
        #expect(reported.withLock { $0 } == 0)
    }

    // A disconnected client cannot be answered, so the error must reach the connection.
    @Test func disconnectionIsPropagated() async {
        let client = TestClient(Router(Self.routes))
        await #expect(throws: HTTPError.disconnected) { try await client.send("GET", "/gone") }
    }
}
