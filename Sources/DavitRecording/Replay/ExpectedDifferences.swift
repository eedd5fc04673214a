/// The list of known differences, each with its reason.
package struct ExpectedDifferences: Sendable {
    package struct Entry: Hashable, Sendable {
        package var file: String
        package var step: String
        package var subject: String
        package var reason: String

        /// Whether the difference depends on timing and need not occur.
        var isOccasional: Bool { reason.hasPrefix("at times:") }

        func covers(_ difference: ReplayReport.Difference) -> Bool {
            difference.file == file && difference.step == step && difference.subject == subject
        }
    }

    package var entries: [Entry] = []

    /// Parses lines `FILE | STEP | WHAT | REASON`. Empty lines and lines that begin with `#` are ignored.
    package init(parsing bytes: [UInt8]) throws(TranscriptError) {
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty && line.first != UInt8(ascii: "#") {
            let parts = Self.parts(of: String(decoding: line, as: UTF8.self))
            guard parts.count >= 4, !parts.contains("") else {
                throw TranscriptError(line: index + 1, problem: "expected FILE | STEP | WHAT | REASON")
            }
            // WHAT may be a check whose regular expression contains the separator. The other parts must not
            // contain the separator.
            let subject = parts[2..<(parts.count - 1)].joined(separator: Self.separator)
            entries.append(
                Entry(file: parts[0], step: parts[1], subject: subject, reason: parts[parts.count - 1]))
        }
    }

    private static let separator = " | "

    private static func parts(of line: String) -> [String] {
        var parts: [String] = []
        var rest = line[...]
        while let found = rest.firstRange(of: separator) {
            parts.append(String(rest[..<found.lowerBound]))
            rest = rest[found.upperBound...]
        }
        return parts + [String(rest)]
    }
}

/// A report, compared with the known differences.
package struct ReplayResult: Sendable {
    package let report: ReplayReport
    /// Differences that are not in the list.
    package private(set) var unexpected: [ReplayReport.Difference] = []
    package private(set) var expectedCount = 0
    /// Listed differences that did not occur.
    package private(set) var outdated: [ExpectedDifferences.Entry] = []

    /// - Parameter expected: the known differences. If not nil, failed optional checks that are not listed
    ///   also count as differences.
    package init(_ report: ReplayReport, expected: ExpectedDifferences?) {
        self.report = report
        guard let expected else {
            unexpected = report.differences
            return
        }
        let all = report.differences + report.advice
        unexpected = all.filter { difference in !expected.entries.contains { $0.covers(difference) } }
        expectedCount = all.count - unexpected.count
        outdated = expected.entries.filter { entry in
            !entry.isOccasional && !all.contains { entry.covers($0) }
        }
        hasList = true
    }

    private var hasList = false

    package var unexpectedCount: Int { unexpected.count + outdated.count }

    package var isAsExpected: Bool { unexpectedCount == 0 }

    /// The report for standard output. The last line contains the totals.
    package var text: String {
        var text = unexpected.map(\.text).joined()
        for entry in outdated {
            text += "\(entry.file), \(entry.step)\n  \(entry.subject): no longer differs\n"
        }
        if !hasList { text += report.advice.map { "note: " + $0.text }.joined() }
        text += report.skipped.map { "request not sent: " + $0.text }.joined()
        text += "requests: \(report.exchangeCount), unexpected differences: \(unexpectedCount)"
        if hasList { text += ", known differences: \(expectedCount)" }
        if !report.skipped.isEmpty { text += ", requests not sent: \(report.skipped.count)" }
        return text + "\n"
    }
}
