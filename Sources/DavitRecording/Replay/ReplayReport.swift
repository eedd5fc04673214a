/// The result of a replay.
package struct ReplayReport: Sendable {
    /// A failed check, or a difference from a recorded response.
    package struct Difference: Hashable, Sendable {
        /// The name of the file; in a folder of recordings, the path relative to that folder.
        package var file: String
        /// The title of the exchange.
        package var step: String
        /// The method and the target.
        package var request: String
        /// The part that differs: `status`, a check as written, or a part of the response.
        package var subject: String
        /// A description of the difference.
        package var detail: String

        package init(file: String, step: String, request: String, subject: String, detail: String) {
            self.file = file
            self.step = step
            self.request = request
            self.subject = subject
            self.detail = detail
        }

        package var text: String { "\(file), \(step)\n  \(request)\n  \(subject): \(detail)\n" }
    }

    /// The number of requests sent.
    package var exchangeCount = 0
    package var differences: [Difference] = []
    /// Failed optional checks, and failures to remove the folder of a transcript.
    package var advice: [Difference] = []
    /// Recorded requests that were not sent, with the reason.
    package var skipped: [Difference] = []

    package init() {}

    package mutating func add(_ other: ReplayReport) {
        exchangeCount += other.exchangeCount
        differences += other.differences
        advice += other.advice
        skipped += other.skipped
    }
}
