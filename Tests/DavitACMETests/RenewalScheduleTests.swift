#if TLS
import DavitHTTP
import Testing

@testable import DavitACME

struct RenewalScheduleTests {
    private static let day: Int64 = 86_400
    private static let start = Timestamp(seconds: 1_767_225_600)
    private static let validity = start...start.adding(seconds: 90 * day)

    private static func days(_ count: Int64) -> Timestamp { start.adding(seconds: count * day) }

    @Test func certificateIsRenewedWithAThirdOfItsLifeLeft() {
        #expect(RenewalSchedule.renewal(of: Self.validity, jitter: 0) == Self.days(60))
        // Up to a thirtieth of its life earlier.
        #expect(RenewalSchedule.renewal(of: Self.validity, jitter: .max) == Self.days(57))
        let half = RenewalSchedule.renewal(of: Self.validity, jitter: .max / 2)
        #expect(Self.days(58) < half && half < Self.days(59))
        // A certificate for six days.
        let short = Self.start...Self.days(6)
        #expect(RenewalSchedule.renewal(of: short, jitter: 0) == Self.days(4))
    }

    @Test func missingCertificateIsDueImmediately() {
        let schedule = RenewalSchedule()
        #expect(schedule.next(renewal: nil, now: Self.start) == Self.start)
        #expect(schedule.next(renewal: Self.days(60), now: Self.start) == Self.days(60))
    }

    @Test func failuresAreRepeatedLessAndLessOften() {
        var schedule = RenewalSchedule()
        let waits = (0..<10).map { _ in schedule.failed(now: Self.start, retrySeconds: nil, random: 0) }
        #expect(waits == [300, 600, 1200, 2400, 4800, 9600, 19_200, 21_600, 21_600, 21_600])
        for _ in 0..<100 { schedule.failed(now: Self.start, retrySeconds: nil, random: .max) }
        #expect(schedule.failed(now: Self.start, retrySeconds: nil, random: .max) == 23_760)
    }

    @Test func fewerThanFiveAttemptsFallIntoAnHour() {
        var schedule = RenewalSchedule()
        var now = Self.start
        var attempts = 0
        while now < Self.start.adding(seconds: 3600) {
            attempts += 1
            schedule.failed(now: now, retrySeconds: nil, random: 0)
            now = schedule.next(renewal: Self.start, now: now)
        }
        #expect(attempts == 4)
    }

    @Test func authorityCanAskForALongerWait() {
        var schedule = RenewalSchedule()
        #expect(schedule.failed(now: Self.start, retrySeconds: 7200, random: 0) == 7200)
        #expect(
            schedule.next(renewal: nil, now: Self.start.adding(seconds: 60))
                == Self.start.adding(seconds: 7200))
        #expect(schedule.failed(now: Self.start, retrySeconds: 1, random: 0) == 600)
    }

    @Test func successEndsTheWait() {
        var schedule = RenewalSchedule()
        schedule.failed(now: Self.start, retrySeconds: nil, random: 0)
        schedule.succeeded(now: Self.start, Self.validity)
        #expect(schedule.failures == 0)
        #expect(schedule.next(renewal: Self.days(60), now: Self.start) == Self.days(60))
    }

    @Test func wrongClockDoesNotCauseOneRequestAfterAnother() {
        var schedule = RenewalSchedule()
        // A clock that is 70 days fast: the new certificate is due already.
        let now = Self.days(70)
        schedule.succeeded(now: now, Self.validity)
        #expect(schedule.next(renewal: Self.days(60), now: now) == Self.days(85))
    }

    @Test func failureBeforeTheRenewalDoesNotAdvanceIt() {
        var schedule = RenewalSchedule()
        schedule.failed(now: Self.start, retrySeconds: nil, random: 0)
        #expect(schedule.next(renewal: Self.days(60), now: Self.start) == Self.days(60))
    }
}
#endif
