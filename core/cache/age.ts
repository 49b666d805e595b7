/** Buckets, in seconds, for the age of what a tier serves: from the allowed staleness of what is recent to the day that windows are kept. */
export const ageBuckets = [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400] as const;
