import { ofKey } from '../../base/memory/byte-lru.js';
import type { TailRequest } from '../../wire/api/request.js';
import type { LogRow } from '../../victoria/names/row-reader.js';
import type { LogsPlan } from '../plan/types.js';
import { Rounds } from '../../base/pace/rounds.js';
import { type TailContext, type TailLine, tailLine } from './context.js';
import { followLines } from './follow.js';
import { LineMaker } from '../logs/logs.js';
import { RecentRows } from './recent-rows.js';
import { ReorderBuffer } from './reorder-buffer.js';
import { nearNs, reachNs } from './poll-windows.js';
import type { LiveAnswer } from '../../wire/answer/types.js';
import type { EngineContext } from '../context.js';
import { readAll, readPages } from '../rows/row-pages.js';
import { entryIdentity } from '../../victoria/names/entry-identity.js';
import type { TimeRange } from '../../base/time/range.js';
import { Instant } from '../rows/row-spans.js';

/** All tails of the process with the same poll interval take turns. */
const turns = new Map<number, Rounds>();

/**
 * Answers a tail: its history, then new lines as a range query would show them. Rejects if the backend cannot answer; nothing has been sent
 * to the client yet.
 */
export async function answerTail(
  plan: LogsPlan,
  request: TailRequest,
  engine: EngineContext,
): Promise<LiveAnswer> {
  const { upstream, reader, signal, memory, clock, limits, tenant, showsGroups } = engine;
  const { range, delayNs, follow: rules } = request;
  const { filter } = plan;
  const endNs = range.endNs - delayNs;
  const startNs = range.startNs < endNs ? range.startNs : endNs;
  const rows = { filter, upstream, reader, signal, memory };
  const context: TailContext = {
    ...{ filter, rules, delayNs, upstream, reader, clock, signal },
    reads: {
      newestFirst: (within, firstPageRows) =>
        readPages({ ...rows, range: within, direction: 'backward', firstPageRows }),
      all: (within) => readAll({ ...rows, range: within, direction: 'forward' }),
    },
    turns: ofKey(turns, rules.refreshMs, () => new Rounds(rules.refreshMs)),
    lines: new LineMaker(plan, showsGroups, engine),
    recent: new RecentRows(rules.maxRemembered, startNs),
  };
  const maxHistory = limits.of([tenant.id]).maxEntriesLimitPerQuery;
  const limit = maxHistory > 0 ? Math.min(request.limit, maxHistory) : request.limit;
  const found = await readHistory({ startNs, endNs }, limit, context);
  const held = new ReorderBuffer(rules.reorderMs);
  // Lines older than the youngest ones of the history may still become visible.
  const youngNs = range.endNs - nearNs(rules);
  const firstYoung = found.findIndex(({ entry }) => entry.timestampNs >= youngNs);
  const settled = rules.reorderMs === 0 || firstYoung < 0 ? found.length : firstYoung;
  for (const line of found.slice(settled)) held.add(line, clock.monotonicMs());
  return { kind: 'live', history: found.slice(0, settled), events: followLines(context, endNs, held) };
}

type Context = Pick<TailContext, 'reads' | 'lines' | 'recent' | 'rules'>;

const minPageRows = 100;

/**
 * Reads the newest entries of a range, up to a limit, and returns them oldest first. Rows young enough to be read again are remembered. If
 * the limit cuts the range, rows before the cut do not belong to the tail.
 */
async function readHistory(
  range: TimeRange,
  limit: number,
  { reads, lines, recent, rules }: Context,
): Promise<readonly TailLine[]> {
  const youngNs = range.endNs - reachNs(rules);
  const found: TailLine[] = [];
  // Pages repeat the rows of the timestamp at which they were cut, and rows may have been pushed twice.
  const instant = new Instant<LogRow>(entryIdentity);
  for await (const rows of reads.newestFirst(range, Math.max(limit, minPageRows))) {
    for (const row of rows) {
      const oldest = found.at(-1);
      if (oldest !== undefined && found.length >= limit) {
        recent.forgetBefore(oldest.entry.timestampNs + 1n);
        return found.reverse();
      }
      if (instant.isRepeated(row.timestampNs, row)) continue;
      if (row.timestampNs >= youngNs) recent.add(row);
      const entry = await tailLine(row, lines);
      if (entry !== undefined) found.push(entry);
    }
  }
  recent.forgetBefore(youngNs);
  return found.reverse();
}
