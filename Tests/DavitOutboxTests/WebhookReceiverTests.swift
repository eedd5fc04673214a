import DavitHTTP
import DavitOutbox
import Testing

struct WebhookReceiverTests {
    #if Webhooks
    /// The example of the specification of Standard Webhooks.
    @Test func requestsAreSigned() throws {
        let receiver = try WebhookReceiver(
            "https://hooks.example", secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")
        let event = DeliveredEvent(id: "msg_1", sequence: 1, record: Array("{}".utf8))
        let fields = try #require(receiver.fields(of: event, seconds: 1_674_087_231))
        #expect(fields.prefix(2) == ["webhook-id: msg_1", "webhook-timestamp: 1674087231"])
        #expect(fields.last?.hasPrefix("webhook-signature: v1,") == true)
        let unsigned = try WebhookReceiver("https://hooks.example", secret: nil)
        #expect(unsigned.fields(of: event, seconds: 1)?.count == 2)
    }

    @Test(arguments: [
        (200, DeliveryResult.delivered), (204, .delivered), (301, .unavailable(reason: "status 301")),
        (400, .refused(reason: "status 400")), (404, .refused(reason: "status 404")),
        (408, .unavailable(reason: "status 408")), (429, .unavailable(reason: "status 429")),
        (500, .unavailable(reason: "status 500")), (503, .unavailable(reason: "status 503")),
    ])
    func statusDecides(status: Int, delivery: DeliveryResult) {
        #expect(WebhookReceiver.delivery(status) == delivery)
    }

    @Test(arguments: ["http://hooks.example/", "ftp://a", "", "https://", "https://a@b/"])
    func otherURLsAreRefused(url: String) {
        #expect(throws: WebhookReceiver.Problem.badURL(url)) { try WebhookReceiver(url, secret: nil) }
    }

    @Test(arguments: ["short", "whsec_!!!", "whsec_c2hvcnQ="])
    func weakSecretsAreRefused(secret: String) {
        #expect(throws: WebhookReceiver.Problem.badSecret) {
            try WebhookReceiver("https://hooks.example", secret: secret)
        }
    }
    #else
    @Test func buildsWithoutWebhooksSayIt() {
        #expect(throws: WebhookReceiver.Problem.notIncluded) {
            try WebhookReceiver("https://hooks.example", secret: nil)
        }
    }
    #endif
}
