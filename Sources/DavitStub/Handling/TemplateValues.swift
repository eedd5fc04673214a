internal import DavitHTTP
internal import DavitSQLite
internal import DavitSystem
internal import Synchronization

/// The values of placeholders for one request.
final class TemplateValues {
    private let state: StubState
    private let request: ReceivedRequest
    private let session: String?
    private let number: UInt64
    private var draws: FaultDraws

    init(state: StubState, request: ReceivedRequest, session: String?, number: UInt64, draws: FaultDraws) {
        self.state = state
        self.request = request
        self.session = session
        self.number = number
        self.draws = draws
    }

    /// - Parameter found: the values in the content.
    func text(of placeholder: Template.Placeholder, _ found: [JSONValue: String]) -> String {
        switch placeholder {
        case .method: request.method.rawValue
        case .path: request.path
        case .content: String(decoding: request.content?.bytes ?? [], as: UTF8.self)
        case .session: session ?? ""
        case .number: "\(number)"
        case .parameter(let name): Self.first(name, request.parameters)
        case .query(let name): Self.first(name, request.query)
        case .field(let name): request.field(name) ?? ""
        case .subject(let json): found[json] ?? ""
        case .counter(let name): "\(state.nextValue(of: name))"
        case .now(let offset, let form): Self.time(offset, form)
        case .uuid: uuid()
        case .random(let range): "\(integer(in: range))"
        }
    }

    private static func first(_ name: String, _ items: [ReceivedRequest.Item]) -> String {
        items.first { $0.name == name }?.value ?? ""
    }

    private static func time(_ offset: Int64, _ form: Template.Placeholder.TimeForm) -> String {
        let now = Timestamp(nanoseconds: Clock.wallNow()).adding(seconds: offset)
        switch form {
        case .unix: return "\(now.seconds)"
        case .iso8601: return String(decoding: HTTPDate.iso8601(now), as: UTF8.self)
        case .http: return String(decoding: HTTPDate.imf(now), as: UTF8.self)
        }
    }

    private func integer(in range: ClosedRange<Int64>) -> Int64 {
        let count = UInt64(range.upperBound - range.lowerBound) &+ 1
        return range.lowerBound + Int64(count == 0 ? 0 : draws.next() % count)
    }

    /// Returns a UUID of version 4 (RFC 9562 §5.4).
    private func uuid() -> String {
        let high = draws.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = draws.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = FaultDraws.hex(high) + FaultDraws.hex(low)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}
