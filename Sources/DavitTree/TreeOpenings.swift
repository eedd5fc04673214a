#if Postgres
internal import DavitHTTP
internal import DavitPostgres
internal import DavitSystem
internal import Synchronization

/// Reads what several requests open in one round trip.
///
/// A request that finds nothing under way is read immediately. Those that come in the meantime are read together afterwards,
/// so that the cost of a round trip and of changing threads is shared exactly when there is much to do.
final class TreeOpenings: Sendable {
    @safe private struct Waiting {
        /// Nil if only the generation of the access rules is asked for.
        let path: ResourcePath?
        let continuation: UnsafeContinuation<Answer?, Never>
    }

    struct Answer: Sendable {
        let opening: TreeOpening?
        /// The generation of the access rules after the path was read; nil if rights do not depend on the database.
        let generation: Int64?
    }

    private struct State {
        var waiting: [Waiting] = []
        /// The number of threads that read.
        var readers = 0
    }

    private let state = Mutex(State())
    private let threads: BlockingPool
    private let readerLimit: Int
    /// The maximum number of paths in one round trip.
    private static let batchLimit = 64

    /// - Parameters:
    ///   - threads: on which to read.
    ///   - connections: of the pool, of which at most half are used.
    init(_ threads: BlockingPool, connections: Int) {
        self.threads = threads
        readerLimit = max(1, min(SystemThread.coreCount / 4, connections / 2))
    }

    /// Returns what opening a path needs to know, with the generation of the access rules after it was read; nil if it could
    /// not be read.
    func opening(_ path: ResourcePath, in database: TreeDatabase) async -> Answer? {
        await answer(to: path, in: database)
    }

    /// Returns the generation of the access rules; nil if it could not be read.
    func generation(in database: TreeDatabase) async -> Int64? {
        await answer(to: nil, in: database)?.generation
    }

    /// Runs work on one of the threads, or not, if too much work is waiting.
    func run(_ work: @escaping @Sendable () -> Void) async { await threads.run(sendable: work) }

    private func answer(to path: ResourcePath?, in database: TreeDatabase) async -> Answer? {
        await unsafe withUnsafeContinuation { continuation in
            let isReaderNeeded = state.withLock { state in
                unsafe state.waiting.append(Waiting(path: path, continuation: continuation))
                guard state.readers < readerLimit else { return false }
                state.readers += 1
                return true
            }
            guard isReaderNeeded, !threads.start({ [self] in read(in: database) }) else { return }
            endReader()
        }
    }

    /// Reads until nothing is left.
    private func read(in database: TreeDatabase) {
        while let batch = next() {
            let found = database.read(batch.map(\.path))
            for (index, waiting) in batch.enumerated() {
                let answer = found.map { Answer(opening: $0.openings[index], generation: $0.generation) }
                unsafe waiting.continuation.resume(returning: answer)
            }
        }
    }

    private func next() -> [Waiting]? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.readers -= 1
                return nil
            }
            let batch = Array(state.waiting.prefix(Self.batchLimit))
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }

    /// Gives up what waits for a reader that could not be started, unless another one is running.
    private func endReader() {
        let left = state.withLock { state -> [Waiting] in
            state.readers -= 1
            guard state.readers == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiting in left { unsafe waiting.continuation.resume(returning: nil) }
    }
}

extension TreeDatabase {
    /// Reads what opening some paths needs to know, and the generation of the access rules.
    /// - Returns: nil if it could not be read.
    fileprivate func read(_ paths: [ResourcePath?]) -> (openings: [TreeOpening?], generation: Int64?)? {
        let deadline = deadline
        let readsGeneration = rights != nil
        return try? pool.read(until: deadline) { connection throws(PostgresError) in
            var batch = PostgresBatch()
            for case let path? in paths {
                batch.add(TreeOpening.statement, TreeOpening.values(path, below: files))
            }
            // The last statement, so that a change of the rules that the others have seen the effect of counts.
            if readsGeneration { batch.add(TreeOpening.generationStatement, .integer(share)) }
            if batch.count == 0 { return (paths.map { _ in nil }, nil) }
            var results = try connection.run(batch, until: deadline)
            let generation = readsGeneration ? try results.removeLast().integer(0, 0) : nil
            var openings: [TreeOpening?] = []
            openings.reserveCapacity(paths.count)
            var left = results[...]
            var large = PostgresBatch()
            for path in paths {
                guard let path, let result = left.popFirst() else {
                    openings.append(nil)
                    continue
                }
                let opening = try TreeOpening(path, result)
                openings.append(opening)
                if let blob = opening.blob { large.add(TreeOpening.segmentStatement, .integer(blob)) }
            }
            if large.count == 0 { return (openings, generation) }
            left = try connection.run(large, until: deadline)[...]
            for index in openings.indices where openings[index]?.blob != nil {
                guard let result = left.popFirst() else { break }
                openings[index]?.segments = try TreeOpening.segments(result)
            }
            return (openings, generation)
        }
    }
}
#endif
