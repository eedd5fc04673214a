/// What a replay has found.
package struct ReplayReport: Sendable {
    /// Something that is not as it should be, or as it was.
    package struct Difference: Hashable, Sendable {
        /// The file, without its folder.
        package var file: String
        /// The title of the exchange.
        package var step: String
        /// Method and target.
        package var request: String
        /// What differs: `status`, or a check as it is written, or a part of the answer.
        package var subject: String
        /// How.
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

    /// Requests that were sent.
    package var exchangeCount = 0
    package var differences: [Difference] = []
    /// What should hold and does not.
    package var advice: [Difference] = []
    /// Requests that could not be sent again, and why.
    package var skipped: [Difference] = []

    package init() {}

    package mutating func add(_ other: ReplayReport) {
        exchangeCount += other.exchangeCount
        differences += other.differences
        advice += other.advice
        skipped += other.skipped
    }
}
