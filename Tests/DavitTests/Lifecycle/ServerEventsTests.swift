import Davit
import Testing

@Suite(.timeLimit(.minutes(15)))
struct ServerEventsTests {
    /// Returns the unread events, up to the first `stopped`.
    private static func untilStopped(_ events: ServerEvents) async -> [ServerEvent] {
        var all: [ServerEvent] = []
        for await event in events {
            all.append(event)
            if event == .stopped { break }
        }
        return all
    }

    @Test func observersReceiveEventsFromTheirStart() async {
        let hub = EventHub()
        let first = hub.observe()
        hub.notify(.suspended)
        let second = hub.observe()
        hub.notify(.firstClientConnected)
        hub.notify(.stopped)
        #expect(await Self.untilStopped(first) == [.suspended, .firstClientConnected, .stopped])
        #expect(await Self.untilStopped(second) == [.firstClientConnected, .stopped])
    }

    @Test func slowReaderIsNotifiedOfMissedEvents() async {
        let hub = EventHub()
        let events = hub.observe()
        for _ in 0..<ServerEvents.limit { hub.notify(.suspended) }
        hub.notify(.firstClientConnected)
        hub.notify(.lastClientDisconnected)
        hub.notify(.stopped)
        let all = await Self.untilStopped(events)
        #expect(all.count == ServerEvents.limit + 1)
        #expect(all.first == .missed(3))
        #expect(all.suffix(4) == [.suspended, .firstClientConnected, .lastClientDisconnected, .stopped])
    }

    @Test func queuedEventsAreLimited() async {
        for more in [0, 1] {
            let hub = EventHub()
            let events = hub.observe()
            for _ in 1..<(ServerEvents.limit + more) { hub.notify(.suspended) }
            hub.notify(.stopped)
            let all = await Self.untilStopped(events)
            #expect(all.count == ServerEvents.limit + more)
            #expect(all.first == (more == 0 ? .suspended : .missed(1)))
        }
    }

    @Test func waitingReaderReceivesNewEvents() async {
        let hub = EventHub()
        let events = hub.observe()
        let reader = Task { await Self.untilStopped(events) }
        for _ in 0..<3 { hub.notify(.suspended) }
        hub.notify(.stopped)
        #expect(await reader.value == [.suspended, .suspended, .suspended, .stopped])
    }

    @Test func queuedEventsAreReadAfterTheServerEnds() async {
        var hub: EventHub? = EventHub()
        guard let events = hub?.observe() else { return }
        hub?.notify(.suspended)
        hub = nil
        var all: [ServerEvent] = []
        for await event in events { all.append(event) }
        #expect(all == [.suspended])
    }

    @Test func cancelledReaderStops() async {
        let hub = EventHub()
        let events = hub.observe()
        let reader = Task { await Self.untilStopped(events) }
        reader.cancel()
        #expect(await reader.value == [])
    }
}
