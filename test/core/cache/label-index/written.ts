/** Values that the killed process writes, about 400 KB. */
export const written: readonly string[] = Array.from(
  { length: 5_000 },
  (_, number) => `pod-${10_000 + number}`,
);
