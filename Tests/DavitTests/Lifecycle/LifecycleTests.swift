import Davit
import Testing

/// The state machine of a server's life, without a server.
struct LifecycleTests {
    typealias Step = (input: Lifecycle.Input, actions: [Lifecycle.Action])

    struct Story: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var suspendsInBackground = true
        let steps: [Step]
        let end: Lifecycle.Phase
    }

    private static let started: [Step] = [(.start, [.start]), (.started, [.tellStarted])]
    private static let suspended: [Step] =
        started + [(.enteredBackground, [.pause]), (.paused, [.tellSuspended])]

    static let stories: [Story] = [
        Story(
            testDescription: "W017: a second start is an error, at every time",
            steps: [
                (.start, [.start]), (.start, [.refuseStart]), (.started, [.tellStarted]),
                (.start, [.refuseStart]),
            ],
            end: .listening),
        Story(
            testDescription: "W017: a start that failed can be tried again",
            steps: [(.start, [.start]), (.startFailed, [])] + started, end: .listening),
        Story(
            testDescription: "W019: stop, and start again",
            steps: started + [
                (.stop, [.stop]), (.stop, []), (.start, [.refuseStart]), (.stopped, [.tellStopped]),
            ]
                + started, end: .listening),
        Story(
            testDescription: "stop without a start does nothing",
            steps: [(.stop, []), (.stopped, []), (.suspend, []), (.resume, [])], end: .stopped),
        Story(
            testDescription: "stop while it starts",
            steps: [
                (.start, [.start]), (.stop, []), (.started, [.tellStarted, .stop]),
                (.stopped, [.tellStopped]),
            ],
            end: .stopped),
        Story(
            testDescription: "W020: a signal ends it, also while it starts",
            steps: started + [
                (.stopped, [.tellStopped]), (.start, [.start]), (.stopped, []),
                (.started, [.tellStarted, .tellStopped]),
            ], end: .stopped),
        Story(
            testDescription:
                "W016: in the background without a connection it stops listening, and comes back",
            steps: suspended + [(.becameActive, [.resume]), (.resumed, [.tellResumed])], end: .listening),
        Story(
            testDescription: "W016: a connection holds it, and the application, until it ends",
            steps: started + [
                (.connected, []), (.enteredBackground, [.holdBackgroundTime(true)]),
                (.disconnected, [.pause, .holdBackgroundTime(false)]), (.paused, [.tellSuspended]),
            ], end: .paused),
        Story(
            testDescription: "W016: the system's patience ends before the connection",
            steps: started + [
                (.connected, []), (.enteredBackground, [.holdBackgroundTime(true)]),
                (.backgroundTimeEnded, [.dismissConnections, .pause, .holdBackgroundTime(false)]),
                (.backgroundTimeEnded, []), (.disconnected, []), (.paused, [.tellSuspended]),
                (.becameActive, [.resume]), (.resumed, [.tellResumed]),
            ], end: .listening),
        Story(
            testDescription: "W016: back before anything happened",
            steps: started + [
                (.connected, []), (.enteredBackground, [.holdBackgroundTime(true)]),
                (.becameActive, [.holdBackgroundTime(false)]), (.disconnected, []),
            ], end: .listening),
        Story(
            testDescription: "W016: active again while it pauses",
            steps: started + [
                (.enteredBackground, [.pause]), (.becameActive, []), (.paused, [.tellSuspended, .resume]),
                (.resumed, [.tellResumed]),
            ], end: .listening),
        Story(
            testDescription: "W016: a connection that came while it paused brings it back",
            steps: started + [
                (.enteredBackground, [.pause]), (.connected, [.holdBackgroundTime(true)]),
                (.paused, [.tellSuspended, .resume]), (.resumed, [.tellResumed]),
            ], end: .listening),
        Story(
            testDescription: "W016: started in the background",
            steps: [(.enteredBackground, []), (.start, [.start]), (.started, [.tellStarted, .pause])],
            end: .pausing),
        Story(
            testDescription: "W016: off",
            suspendsInBackground: false,
            steps: started + [(.enteredBackground, []), (.backgroundTimeEnded, []), (.becameActive, [])],
            end: .listening),
        Story(
            testDescription: "what the application suspended, becoming active does not bring back",
            steps: started + [
                (.suspend, [.pause]), (.paused, [.tellSuspended]), (.enteredBackground, []),
                (.becameActive, []),
                (.resume, [.resume]), (.resumed, [.tellResumed]),
            ], end: .listening),
        Story(
            testDescription: "resume waits for the foreground",
            steps: suspended + [(.resume, []), (.becameActive, [.resume])], end: .resuming),
        Story(
            testDescription: "a port that is taken: told, and tried again at the next occasion only",
            steps: suspended + [
                (.becameActive, [.resume]), (.resumeFailed, [.tellResumeFailed]), (.disconnected, []),
                (.becameActive, [.resume]), (.resumeFailed, [.tellResumeFailed]), (.resume, [.resume]),
                (.resumed, [.tellResumed]),
            ], end: .listening),
        Story(
            testDescription: "W019: stop while it is suspended, and in between",
            steps: suspended + [(.stop, [.stop]), (.stopped, [.tellStopped])] + [
                (.becameActive, []), (.start, [.start]), (.started, [.tellStarted]), (.suspend, [.pause]),
                (.stop, [.stop]), (.paused, []), (.stopped, [.tellStopped]),
            ], end: .stopped),
        Story(
            testDescription: "what was asked of the server ends with it",
            steps: started + [(.suspend, [.pause]), (.stopped, [.tellStopped]), (.paused, [])] + started,
            end: .listening),
    ]

    @Test(arguments: stories)
    func tells(story: Story) {
        var lifecycle = Lifecycle(suspendsInBackground: story.suspendsInBackground)
        for (index, step) in story.steps.enumerated() {
            #expect(lifecycle.handle(step.input) == step.actions, "step \(index): \(step.input)")
        }
        #expect(lifecycle.phase == story.end)
    }

    /// W021.
    @Test func itRunsAlsoWhileItIsSuspended() {
        var lifecycle = Lifecycle(suspendsInBackground: true)
        #expect(!lifecycle.isRunning)
        for step in Self.suspended { _ = lifecycle.handle(step.input) }
        #expect(lifecycle.phase == .paused)
        #expect(lifecycle.isRunning)
    }

    // MARK: All states

    /// Every state that can be reached, with the way to it: all inputs in all states.
    private static func reachable(_ suspendsInBackground: Bool) -> [Lifecycle: [Lifecycle.Input]] {
        let first = Lifecycle(suspendsInBackground: suspendsInBackground)
        var ways: [Lifecycle: [Lifecycle.Input]] = [first: []]
        var queue = [first]
        while let state = queue.popLast() {
            for input in Lifecycle.Input.allCases {
                var next = state
                _ = next.handle(input)
                guard ways[next] == nil else { continue }
                ways[next] = (ways[state] ?? []) + [input]
                queue.append(next)
            }
        }
        return ways
    }

    /// What the caller would report for what is under way.
    private static func completion(of phase: Lifecycle.Phase) -> Lifecycle.Input? {
        switch phase {
        case .starting: .started
        case .pausing: .paused
        case .resuming: .resumed
        case .stopping: .stopped
        case .stopped, .listening, .paused: nil
        }
    }

    /// In every state and for every input: no action that does not fit, and no endless exchange.
    @Test(arguments: [true, false])
    func everyStateSettles(suspendsInBackground: Bool) {
        let ways = Self.reachable(suspendsInBackground)
        #expect(Set(ways.keys.map(\.phase)) == Set(Lifecycle.Phase.allCases))
        for (state, way) in ways {
            for input in Lifecycle.Input.allCases {
                var next = state
                var rounds = 0
                var actions = next.handle(input)
                Self.check(actions, from: state.phase, to: next.phase, way + [input])
                while let completion = Self.completion(of: next.phase), rounds < 10 {
                    let before = next.phase
                    actions = next.handle(completion)
                    Self.check(actions, from: before, to: next.phase, way + [input, completion])
                    rounds += 1
                }
                #expect(rounds < 10, "\(way + [input]) never settles")
            }
        }
    }

    private static func check(
        _ actions: [Lifecycle.Action], from before: Lifecycle.Phase, to after: Lifecycle.Phase,
        _ way: [Lifecycle.Input]
    ) {
        // Each phase of waiting is entered with its action, and each action enters it.
        let entries: [(Lifecycle.Action, Lifecycle.Phase)] = [
            (.start, .starting), (.pause, .pausing), (.resume, .resuming), (.stop, .stopping),
        ]
        for (action, phase) in entries {
            let count = actions.filter { $0 == action }.count
            let isEntered = after == phase && before != phase
            #expect(count == (isEntered ? 1 : 0), "\(way): \(action)")
        }
        #expect(actions.contains(.refuseStart) == (way.last == .start && before != .stopped), "\(way)")
        #expect(Set(actions).count == actions.count, "\(way)")
    }

    /// From every state the way back is open: stopped, active, started and resumed, it listens.
    @Test(arguments: [true, false])
    func everyStateCanListenAgain(suspendsInBackground: Bool) {
        for (state, way) in Self.reachable(suspendsInBackground) {
            var next = state
            func settle() {
                for _ in 0..<10 {
                    guard let completion = Self.completion(of: next.phase) else { return }
                    _ = next.handle(completion)
                }
            }
            for input in [.becameActive, .resume] as [Lifecycle.Input] { _ = next.handle(input) }
            settle()
            #expect(next.phase == .listening || next.phase == .stopped, "\(way)")
            _ = next.handle(.stop)
            settle()
            #expect(next.phase == .stopped, "\(way)")
            _ = next.handle(.start)
            settle()
            #expect(next.phase == .listening, "\(way)")
        }
    }

    /// Whatever comes in which order: told in pairs, and background time is given back.
    @Test(arguments: [true, false])
    func everyWayTellsInPairs(suspendsInBackground: Bool) {
        var held: [Lifecycle: Bool] = [Lifecycle(suspendsInBackground: suspendsInBackground): false]
        var queue = Array(held.keys)
        while let state = queue.popLast() {
            for input in Lifecycle.Input.allCases {
                var next = state
                var holds = held[state] ?? false
                for case .holdBackgroundTime(let wanted) in next.handle(input) {
                    #expect(wanted != holds)
                    holds = wanted
                }
                if next.phase == .stopped { #expect(!holds) }
                if let known = held[next] {
                    #expect(known == holds)
                } else {
                    held[next] = holds
                    queue.append(next)
                }
            }
        }
    }
}
