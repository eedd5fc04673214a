extension Int64 {
    /// Returns the sum, or the maximum if it is larger. Sparse files can have any length, so sums of lengths can overflow.
    /// - Parameter other: not negative.
    package func addingClamped(_ other: Int64) -> Int64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
