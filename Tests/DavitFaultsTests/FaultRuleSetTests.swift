import DavitFaults
import DavitHTTP
import Testing

/// The text format of fault plans.
struct FaultRuleSetTests {
    @Test func everyWordIsParsed() throws {
        let plan = try FaultRuleSet(
            parsing: """
                # comment

                seed=42
                *  /**  profile=3g
                PUT,LOCK  /a b/** status=423
                """.replacing("/a b/**", with: "/a/**"))
        #expect(plan.seed == 42 && plan.rules.count == 2)
        #expect(plan.rules[0].downBytesPerSecond == 200_000 && plan.rules[0].upBytesPerSecond == 96_000)
        #expect(plan.rules[0].firstByteDelay == .fixed(300) && plan.rules[0].methods.isEmpty)
        #expect(plan.rules[1].methods == [.put, .lock] && plan.rules[1].refusal == .init(HTTPStatus(423)))
    }

    static func rule(_ text: String) throws -> FaultRule {
        try #require(try FaultRuleSet(parsing: "GET /x \(text)").rules.first)
    }

    @Test func valuesOfEveryKind() throws {
        #expect(try Self.rule("delay=300ms").delay == .fixed(300))
        #expect(try Self.rule("delay=1.5s").delay == .fixed(1500))
        #expect(try Self.rule("first-byte=100ms-2s").firstByteDelay == .uniform(100...2000))
        #expect(try Self.rule("delay=300ms~50ms").delay == .normal(mean: 300, deviation: 50))
        #expect(try Self.rule("down=50kB/s up=1.5MB").downBytesPerSecond == 50_000)
        #expect(try Self.rule("down=50kB/s up=1.5MB").upBytesPerSecond == 1_500_000)
        #expect(try Self.rule("probability=10% close").probability == 0.1)
        #expect(try Self.rule("probability=0.25 close").probability == 0.25)
        #expect(try Self.rule("close").endWithoutResponse == .close)
        #expect(try Self.rule("reset").endWithoutResponse == .reset)
        #expect(try Self.rule("stall").endWithoutResponse == .stall)
        #expect(try Self.rule("close-after=10").end == .init(afterBytes: 10, .close))
        #expect(try Self.rule("reset-after=1kB").end == .init(afterBytes: 1000, .reset))
        #expect(try Self.rule("stall-after=0").end == .init(afterBytes: 0, .stall))
        #expect(try Self.rule("malformed-head").hasMalformedHead)
        #expect(try Self.rule("length-error=-5").lengthError == -5)
        #expect(
            try Self.rule("status=507 at=80% retry-after=9").refusal
                == .init(HTTPStatus(507), retryAfterSeconds: 9, receivedPart: 0.8))
        for (text, occurrence) in [
            ("nth=2", FaultRule.Occurrence.nth(2)), ("every=3", .every(3)), ("first=4", .first(4)),
            ("after=0", .after(0)),
        ] { #expect(try Self.rule("\(text) close").occurrence == occurrence) }
        #expect(try FaultRuleSet(parsing: "BREW /pot close").rules[0].methods == [.other("BREW")])
    }

    @Test func lossyProfileIsTwoRules() throws {
        let rules = try FaultRuleSet(parsing: "GET /x profile=bad-wifi").rules
        #expect(
            rules.count == 2 && rules[1].end == .init(afterBytes: 0, .reset) && rules[1].probability == 0.01)
    }

    @Test(arguments: [
        "GET", "GET /x", "get /x close", "GET x close", "GET /x boom", "GET /x delay", "GET /x delay=",
        "GET /x delay=5", "GET /x delay=2s-1s", "GET /x delay=2d", "GET /x delay=86401s", "GET /x down=0",
        "GET /x down=fast", "GET /x status=99", "GET /x status=600", "GET /x at=50%", "GET /x retry-after=1",
        "GET /x status=503 at=101%", "GET /x probability=1.1 close", "GET /x nth=0 close",
        "GET /x every=0 close",
        "GET /x close=1", "GET /x profile=5g", "GET /x length-error=x", "seed=x", "GET /x down=1e9",
        ",GET /x close",
        "GET /x delay=1.2.3s", "GET /x down=99999999999999GB", "GET /x malformed-head=yes",
    ]) func invalidLineIsRefused(line: String) {
        let error = #expect(throws: FaultRuleError.self) { try FaultRuleSet(parsing: "# first\n\(line)") }
        #expect(error?.line == 2 && error?.problem.isEmpty == false)
    }

    @Test func rulesAreLimited() {
        let text = String(repeating: "GET /x close\n", count: FaultRuleSet.ruleLimit + 1)
        #expect(throws: FaultRuleError.self) { try FaultRuleSet(parsing: text) }
    }
}
