/// A Gregorian calendar date with a time of day, in UTC.
struct CivilTime: Hashable {
    var year: Int64
    /// Month 1 to 12, day 1 to 31.
    var month: Int64, day: Int64
    var hour: Int64, minute: Int64, second: Int64

    /// Returns nil for an invalid date or time. Second 60, a leap second, is treated as the following second.
    init?(year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64) {
        guard 1...12 ~= month, 1...Self.days(in: month, of: year) ~= day else { return nil }
        guard 0...23 ~= hour, 0...59 ~= minute, 0...60 ~= second else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    init(_ timestamp: Timestamp) {
        let seconds = timestamp.seconds
        let days = Self.floorDivide(seconds, 86_400)
        let time = seconds - days * 86_400
        hour = time / 3600
        minute = time / 60 % 60
        second = time % 60

        // Years begin in March here, so that a leap day is the last day of its year, of its 4-year and of its
        // 400-year cycle. Day 0 is 0000-03-01.
        var rest = days + Self.epoch
        let cycles = Self.floorDivide(rest, 146_097)
        rest -= cycles * 146_097
        let centuries = min(rest / 36_524, 3)
        rest -= centuries * 36_524
        let fours = rest / 1461
        rest -= fours * 1461
        let ones = min(rest / 365, 3)
        rest -= ones * 365
        // The five months from March to July have 153 days together, as do those from August to December.
        let monthsSinceMarch = (5 * rest + 2) / 153
        day = rest - (153 * monthsSinceMarch + 2) / 5 + 1
        month = monthsSinceMarch < 10 ? monthsSinceMarch + 3 : monthsSinceMarch - 9
        year = 400 * cycles + 100 * centuries + 4 * fours + ones + (month <= 2 ? 1 : 0)
    }

    /// The number of days from 0000-03-01 to 1970-01-01.
    private static let epoch: Int64 = 719_468

    /// Seconds since 1970-01-01T00:00:00Z.
    var seconds: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let monthsSinceMarch = month <= 2 ? month + 9 : month - 3
        let leapDays =
            Self.floorDivide(marchYear, 4) - Self.floorDivide(marchYear, 100)
            + Self.floorDivide(marchYear, 400)
        let days = 365 * marchYear + leapDays + (153 * monthsSinceMarch + 2) / 5 + day - 1 - Self.epoch
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// The instant, clamped to the whole-second range of ``Timestamp`` (1677 to 2262).
    var timestamp: Timestamp {
        let last = Int64.max / 1_000_000_000
        return Timestamp(seconds: min(max(seconds, -last), last))
    }

    /// Returns the day of the week; 0 for Sunday.
    static func weekday(of timestamp: Timestamp) -> Int {
        let days = floorDivide(timestamp.seconds, 86_400) + 4
        return Int(days - floorDivide(days, 7) * 7)
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floorDivide(_ dividend: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
