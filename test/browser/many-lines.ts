import type { Page } from 'playwright-core';

/** Nanoseconds between the generated lines. */
const stepNs = 1_000_000n;

/**
 * Serves generated lines to the page, `all` numbered lines before now: each request gets those of its range, the newest first, up to its
 * limit. Returns a counter of the requests.
 */
export async function answerManyLines(
  page: Page,
  all: number,
  lineOf: (index: number) => string = (index) => `line ${index}`,
): Promise<{ readonly asked: () => number; fails: boolean }> {
  const newest = BigInt(Date.now() - 1_000) * 1_000_000n;
  let asked = 0;
  const control = { asked: () => asked, fails: false };
  await page.route('**/api/query_range*', (route) => {
    const params = new URL(route.request().url()).searchParams;
    if (params.get('query')?.startsWith('sum by') === true) return route.continue();
    asked += 1;
    if (control.fails) return route.fulfill({ status: 503, json: { error: 'the backend is away' } });
    const [start, end] = [BigInt(params.get('start') ?? 0), BigInt(params.get('end') ?? 0)];
    const limit = Number(params.get('limit'));
    const values: (readonly [string, string, object])[] = [];
    for (let index = 0; index < all && values.length < limit; index++) {
      const ns = newest - BigInt(index) * stepNs;
      if (ns >= start && ns < end) values.push([String(ns), lineOf(index), {}]);
    }
    const result = [{ stream: { app: 'made' }, values }];
    return route.fulfill({ json: { status: 'success', data: { resultType: 'streams', result } } });
  });
  return control;
}
