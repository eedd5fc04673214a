import DavitServer
import Testing

struct AsyncSemaphoreTests {
    /// At most `waitingLimit` callers wait; another one is refused.
    @Test func waitingCallersAreLimited() async {
        let semaphore = AsyncSemaphore(limit: 1, waitingLimit: 2)
        #expect(await semaphore.enter())
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let isInside = await semaphore.enter()
                    return isInside
                }
            }
            // Two tasks wait until the semaphore is released, so the first outcome is that of the third.
            let first = await group.next()
            semaphore.leave()
            semaphore.leave()
            return await group.reduce(into: [first == true]) { $0.append($1) }
        }
        #expect(outcomes == [false, true, true])
    }
}
