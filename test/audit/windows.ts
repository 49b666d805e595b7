import { hourMs, linesOf, minuteMs, until, type Lab, type Line } from './lab.js';
import { errorOf, seriesOf, type Params, type Site } from './site.js';
import type { SeenCall } from './relay.js';
import { expect, same, type Claim, type Section } from './section.js';

const selector = '{app="web"}';
/** A metric query with values computed from rows. */
const ofRows = `quantile_over_time(0.5, ${selector} | logfmt | unwrap a [5m]) by (app)`;

type Flags = Readonly<Record<string, string>>;

/** Evenly spaced lines, the newest about two hours old. */
function old(count: number, hours: number): readonly Line[] {
  return linesOf({ app: 'web' }, count, hours * hourMs, (at) => `a=${at}`).map((line) => ({
    ...line,
    agoMs: line.agoMs + 2 * hourMs,
  }));
}

/** The twelve hours that contain these lines. */
function past(lab: Lab, movedMs = 0): Params {
  return { ...lab.range(14 * hourMs - movedMs, 2 * hourMs - movedMs), step: '300' };
}

/** True if the call reads rows and does not only count them. */
function isRead({ path, args }: SeenCall): boolean {
  return path.endsWith('/query') && args.get('query')?.includes('| stats ') === false;
}

/** The start of a call's range, in milliseconds. */
function startOf({ args }: SeenCall): number {
  return msOf(args.get('start') ?? '');
}

function msOf(text: string): number {
  if (!/^\d+$/.test(text)) return Date.parse(text);
  return Number(text) / 10 ** Math.max(0, text.length - 13);
}

async function withOld(lab: Lab, flags: Flags = {}, lines = old(288, 12)): Promise<Site> {
  await lab.push(lines);
  return lab.site({ 'query-range-adaptive-parallel': 'false', ...flags });
}

/** The maximum of concurrent reads for twelve windows. */
async function atOnce(lab: Lab, query: string, flags: Flags): Promise<number> {
  const site = await withOld(lab, { 'query-range-stream-aware-batching': 'false', ...flags });
  let [open, most] = [0, 0];
  site.relay.meddle = (call) => {
    if (!isRead(call)) return undefined;
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => (open -= 1), 140);
    return { waitMs: 150 };
  };
  await site.json('query_range', { query, ...past(lab), limit: '1000' });
  return most;
}

/** The response to a query in which the read of one window hangs, and the time it took. */
async function hanging(
  lab: Lab,
  query: string,
  flags: Flags,
): Promise<{ readonly ms: number; readonly text: string; readonly status: number }> {
  const site = await withOld(lab, flags);
  const hung = Number(lab.ago(8 * hourMs)) / 1e6;
  site.relay.meddle = (call) => {
    const [from, to] = [startOf(call), msOf(call.args.get('end') ?? '')];
    return isRead(call) && from <= hung && !(to <= hung) ? { waitMs: 25_000 } : undefined;
  };
  const startedMs = performance.now();
  const { status, text } = await site.get('query_range', { query, ...past(lab), limit: '1000' });
  return { ms: performance.now() - startedMs, status, text };
}

function timeoutClaim(what: string, query: string): Claim {
  return {
    lines: '507',
    says: `\`-query-range-window-timeout\` is of one window, for ${what}`,
    probe: async (lab) => {
      const { ms, status } = await hanging(lab, query, { 'query-range-window-timeout': '400ms' });
      same(status, 504, 'the status');
      expect(ms < 4_500, `a window that hangs is given up after ${Math.round(ms)} ms`);
    },
  };
}

function partialClaim(what: string, query: string, bound: string): Claim {
  return {
    lines: '508',
    says: `with \`-query-range-partial-responses\` a window that hangs is left out, with a warning, for ${what}`,
    probe: async (lab) => {
      const { ms, status, text } = await hanging(lab, query, {
        'query-range-window-timeout': '400ms',
        'query-range-partial-responses': 'true',
        'backend-timeout': bound,
        'http-write-timeout': bound,
      });
      same(status, 200, `the status, after ${Math.round(ms)} ms`);
      expect(text.includes('partial response'), 'there is no warning');
    },
  };
}

export const windows: Section = {
  title: 'Windows of range queries',
  claims: [
    {
      lines: '15, 488-489, 506',
      says: 'a long range is read in aligned windows of `-query-range-split-interval`, with the values of one read',
      probe: async (lab) => {
        const split = await withOld(lab, {
          'query-range-split-interval': '2h',
          'query-range-max-parallel': '4',
        });
        const whole = await lab.site({ 'query-range-windowing': 'false' });
        const [parts, one] = [
          await split.json('query_range', { query: ofRows, ...past(lab) }),
          await whole.json('query_range', { query: ofRows, ...past(lab) }),
        ];
        same(seriesOf(parts), seriesOf(one), 'the series');
        const reads = split.relay.calls.filter(isRead).length;
        expect(reads >= 2, `${reads} reads`);
      },
    },
    {
      lines: '15, 500',
      says: 'windows are kept: a range that has moved by an hour reads the new part only',
      probe: async (lab) => {
        const site = await withOld(lab);
        await site.json('query_range', { query: ofRows, ...past(lab) });
        site.relay.forget();
        await site.json('query_range', { query: ofRows, ...past(lab, hourMs) });
        const starts = site.relay.calls.filter(isRead).map(startOf);
        expect(starts.length > 0, 'nothing is read');
        expect(Math.min(...starts) > Number(lab.ago(5 * hourMs)) / 1e6, 'old windows are read again');
        expect((await site.metric('window_cache_hit_total')) > 0, 'no hit is counted');
      },
    },
    {
      lines: '498-499',
      says: 'windows within `-query-range-freshness` of now are not kept, as `-query-range-recent-cache-ttl` is 0',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 288, 12 * hourMs, (at) => `a=${at}`));
        const site = await lab.site({
          'compat-cache-enabled': 'false',
          'recent-tail-refresh-max-staleness': '0',
        });
        const params = { query: ofRows, ...lab.range(12 * hourMs), step: '300' };
        await site.json('query_range', params);
        site.relay.forget();
        await site.json('query_range', params);
        const starts = site.relay.calls.filter(isRead).map(startOf);
        expect(starts.length > 0, 'nothing is read again');
        expect(Math.min(...starts) > Number(lab.ago(3 * hourMs)) / 1e6, 'old windows are read again');
      },
    },
    {
      lines: '15, 490-491, 504-505',
      says: 'windows of metrics are read in parallel, `-query-range-max-parallel` at a time; expensive ones `-query-range-expensive-max-parallel`',
      probe: async (lab) => {
        const many = { 'query-range-max-parallel': '4', 'query-range-expensive-hit-threshold': '1000000' };
        const one = await atOnce(lab, ofRows, { ...many, 'query-range-max-parallel': '1' });
        const four = await atOnce(lab, ofRows, many);
        // The part that is not sealed yet is read in parallel with the windows.
        expect(one <= 2 && four > one, `${one} at once of 1, ${four} of 4`);
        const costly = {
          'query-range-max-parallel': '4',
          'query-range-expensive-hit-threshold': '1',
          'query-range-stream-aware-batching': 'true',
        };
        const few = await atOnce(lab, ofRows, costly);
        expect(few < four, `${few} expensive ones at once, ${four} of others`);
      },
    },
    {
      lines: '15, 219, 490-493',
      says: 'windows of log queries are read in parallel',
      differs: 'Windows are fetched in parallel for metric queries only',
      probe: async (lab) => {
        const most = await atOnce(lab, selector, { 'query-range-max-parallel': '4' });
        same(most, 1, 'the most reads at once');
      },
    },
    {
      lines: '15, 491-497, 515',
      says: 'adaptive parallelism grows while reads are quick, up to its maximum, and backs off when they are slow',
      probe: async (lab) => {
        await lab.push(old(288, 12));
        const site = await lab.site({
          'query-range-adaptive-cooldown': '1ms',
          'query-range-latency-target': '3s',
          'query-range-latency-backoff': '4s',
        });
        const after = async (quantile: number): Promise<number> => {
          const query = ofRows.replace('0.5', String(quantile));
          await site.json('query_range', { query, ...past(lab) });
          return site.metric('window_adaptive_parallel_current');
        };
        for (const quantile of [0.1, 0.2]) await after(quantile);
        const grown = await after(0.3);
        same(grown, 8, 'windows at once after quick reads');
        site.relay.meddle = (call) => (isRead(call) ? { waitMs: 9_000 } : undefined);
        let backed = grown;
        for (let tenths = 4; backed === grown && tenths < 8; tenths += 1) backed = await after(tenths / 10);
        expect(backed < grown, `${backed} at once of slow reads`);
        expect((await site.metric('window_adaptive_latency_ewma_seconds')) > 0, 'no latency is told');
      },
    },
    {
      lines: '501-502',
      says: 'windows without lines are not read, and counted',
      probe: async (lab) => {
        const lines = [
          ...old(10, 1),
          ...old(10, 1).map((line) => ({ ...line, agoMs: line.agoMs + 10 * hourMs })),
        ];
        const site = await withOld(lab, {}, lines);
        await site.json('query_range', { query: ofRows, ...past(lab) });
        expect((await site.metric('window_prefilter_skipped_total')) > 0, 'none is skipped');
        const off = await withOld(
          lab,
          { 'query-range-prefilter-index-stats': 'false', 'query-range-history-revalidate': '0' },
          [],
        );
        await off.json('query_range', { query: ofRows, ...past(lab) });
        same((await off.metric('window_prefilter_attempt_total')) > 0, false, 'whether it is tried when off');
      },
    },
    {
      lines: '387, 501',
      says: 'a count of lines that fails, or hangs, does not fail a query: it is counted, and the windows are read',
      probe: async (lab) => {
        const site = await withOld(lab, { 'query-range-window-timeout': '1s' });
        for (const meddling of [{ status: 500, body: 'x' }, { waitMs: 20_000 }]) {
          // All counting calls, but not the reads themselves.
          site.relay.meddle = (call) =>
            /query|hits/.test(call.path) && !isRead(call) ? meddling : undefined;
          const reply = await site.get('query_range', {
            query: selector,
            ...past(lab),
            limit: `${'status' in meddling ? 99 : 98}`,
          });
          same(
            reply.status,
            200,
            `the status with ${JSON.stringify(meddling)}: ${errorOf(reply).slice(0, 100)}`,
          );
        }
        expect((await site.metric('window_prefilter_error_total')) > 0, 'no error is counted');
      },
    },
    timeoutClaim('metrics', ofRows),
    timeoutClaim('logs', selector),
    partialClaim('metrics', ofRows, '10s'),
    partialClaim('logs', selector, '5s'),
    {
      lines: '387, 508',
      says: 'a window that fails is read again, and one that fails again is an error by default',
      probe: async (lab) => {
        const site = await withOld(lab);
        let failures = 1;
        site.relay.meddle = (call) =>
          isRead(call) && failures-- > 0 ? { status: 500, body: 'x' } : undefined;
        same(
          (await site.get('query_range', { query: ofRows, ...past(lab) })).status,
          200,
          'after one failure',
        );
        expect((await site.metric('window_retry_total')) > 0, 'no retry is counted');
        failures = 1_000;
        const other = ofRows.replace('0.5', '0.7');
        same((await site.get('query_range', { query: other, ...past(lab) })).status, 500, 'after many');
      },
    },
    {
      lines: '509-510',
      says: 'windows are read ahead in the background, `-query-range-background-warm-max-windows` at most',
      differs: 'Windows are read ahead for metric queries only',
      probe: async (lab) => {
        await lab.push(old(600, 26));
        for (const [query, isAhead] of [
          [ofRows, true],
          [selector, false],
        ] as const) {
          const site = await lab.site();
          const begin = Number(lab.ago(9 * hourMs)) / 1e6;
          const ask = (at: number): Promise<unknown> =>
            site.json('query_range', {
              query,
              ...lab.range(8 * hourMs - at * minuteMs, hourMs - at * minuteMs),
              step: '300',
            });
          for (let at = 0; at < 4; at += 1) await ask(at * 5);
          const isBefore = (): boolean =>
            site.relay.calls.filter(isRead).some((call) => startOf(call) < begin - hourMs);
          if (isAhead) await until('a read ahead', isBefore);
          else same(isBefore(), false, 'whether logs are read ahead');
        }
      },
    },
  ],
};
