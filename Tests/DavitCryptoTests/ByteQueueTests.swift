import DavitCrypto
import DavitTesting
import Testing

struct ByteQueueTests {
    /// Compares the queue with an array.
    @Test(arguments: 1...8)
    func queueMatchesAnArray(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = ByteQueue()
        var model: [UInt8] = []
        var next: UInt8 = 0
        func make(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in
                next &+= 1
                return next
            }
        }
        for _ in 0..<200 {
            let size = Int.random(in: 0...(Bool.random(using: &generator) ? 20 : 3000), using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0:
                let bytes = make(size)
                unsafe bytes.withUnsafeBytes { unsafe queue.append($0) }
                model += bytes
            case 1:
                let bytes = make(size)
                let filled = unsafe queue.fill(atLeast: size) { room in
                    #expect(room.count >= size)
                    unsafe room.copyBytes(from: bytes)
                    return size
                }
                #expect(filled == size)
                model += bytes
            case 2:
                var bytes = [UInt8](repeating: 0, count: size)
                let taken = unsafe bytes.withUnsafeMutableBytes { unsafe queue.take(into: $0) }
                #expect(taken == min(size, model.count))
                #expect(bytes[..<taken] == model[..<taken])
                model.removeFirst(taken)
            case 3:
                queue.removeFirst(size)
                model.removeFirst(min(size, model.count))
            case 4: queue.releaseMemory()
            default:
                // Pass counts beyond the contents and negative counts, as a faulty caller would.
                _ = unsafe queue.fill(atLeast: 0) { _ in -1 }
                queue.removeFirst(-1)
            }
            #expect(queue.count == model.count)
            #expect(queue.isEmpty == model.isEmpty)
            #expect(unsafe queue.withBytes { unsafe Array($0) == model })
        }
    }

    @Test func failureWhileFillingAddsNothing() {
        struct Failure: Error, Equatable {}
        var queue = ByteQueue()
        unsafe [UInt8]([1, 2]).withUnsafeBytes { unsafe queue.append($0) }
        #expect(throws: Failure()) { try unsafe queue.fill(atLeast: 9) { _ in throw Failure() } }
        #expect(unsafe queue.withBytes { unsafe Array($0) } == [1, 2])
    }
}
