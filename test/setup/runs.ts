/**
 * How often a law that takes long is tried with other data: so often in each run of the tests, and `TEST_RUNS` times as often where
 * somebody has the time.
 */
export function runs(usual: number): number {
  const times = Number(process.env['TEST_RUNS'] ?? 1);
  if (!(times > 0)) throw new Error(`TEST_RUNS is no positive number: ${process.env['TEST_RUNS'] ?? ''}`);
  return Math.ceil(usual * times);
}
