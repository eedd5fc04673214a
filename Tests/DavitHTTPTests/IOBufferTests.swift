import Testing

@testable import DavitHTTP

@Suite("I/O buffers")
struct IOBufferTests {
    private func bytes(_ buffer: IOBuffer) -> [UInt8] { unsafe buffer.withBytes { unsafe Array($0) } }

    @Test("Appending stops at the capacity")
    func appending() {
        let buffer = IOBuffer(capacity: 3)
        #expect(buffer.append([1, 2]) == 2)
        #expect(buffer.append([3, 4, 5]) == 1)
        #expect(bytes(buffer) == [1, 2, 3])
        #expect(buffer.append([6]) == 0)
        #expect(buffer.freeCount == 0)
        buffer.removeAll()
        #expect(buffer.count == 0 && buffer.freeCount == 3)
    }

    @Test(
        "Truncating only makes the content shorter",
        arguments: [(-1, 0), (0, 0), (2, 2), (3, 3), (4, 3), (Int.max, 3)])
    func truncating(to count: Int, expected: Int) {
        let buffer = IOBuffer(capacity: 8)
        _ = buffer.append([1, 2, 3])
        buffer.truncate(to: count)
        #expect(bytes(buffer) == Array([1, 2, 3].prefix(expected)))
    }

    @Test(
        "A fill that reports more or less than it can have written is limited",
        arguments: [(-5, 2), (0, 2), (1, 3), (2, 4), (3, 4), (Int.max, 4)])
    func filling(reported: Int, expected: Int) {
        let buffer = IOBuffer(capacity: 4)
        _ = buffer.append([1, 2])
        let answer = unsafe buffer.fill { room in
            for index in room.indices { unsafe room[index] = 9 }
            return reported
        }
        #expect(answer == reported)
        #expect(bytes(buffer) == Array([1, 2, 9, 9].prefix(expected)))
    }

    @Test(
        "Removing at the start moves the rest",
        arguments: [(-1, [1, 2, 3]), (0, [1, 2, 3]), (1, [2, 3]), (3, []), (4, [UInt8]())])
    func removing(_ dropped: Int, expected: [UInt8]) {
        let buffer = IOBuffer(capacity: 3)
        _ = buffer.append([1, 2, 3])
        buffer.removeFirst(dropped)
        #expect(bytes(buffer) == expected)
    }

    @Test("A negative capacity is a programming error")
    func negativeCapacity() async {
        await #expect(processExitsWith: .failure) { _ = IOBuffer(capacity: -1) }
    }
}
