/// The edit distance of two words.
enum EditDistance {
    /// Returns the minimum number of byte insertions, deletions, replacements and swaps of neighbors that
    /// turn `b` into `a`.
    static func between(_ a: String, _ b: String) -> Int {
        let a = Array(a.utf8)
        let b = Array(b.utf8)
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                let isSwap = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]
                if isSwap { best = min(best, beforeLast[j - 1] + 1) }
                row.append(best)
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
