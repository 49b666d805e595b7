import { parseQuery } from '../../../../core/logql/index.js';
import { logsPlan } from '../plan/planned.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import type { TailContext } from '../../../../core/engine/tail/context.js';
import { followLines } from '../../../../core/engine/tail/follow.js';
import { LineMaker } from '../../../../core/engine/logs/logs.js';
import { RecentRows } from '../../../../core/engine/tail/recent-rows.js';
import { ReorderBuffer } from '../../../../core/engine/tail/reorder-buffer.js';
import type { FollowRules } from '../../../../core/wire/api/follow-rules.js';
import type { LiveEntry, LiveEvent } from '../../../../core/wire/answer/types.js';
import { FakeClock, namesOptions } from '../../../../core/testing/index.js';
import { reader, rowOf } from './rows.js';
import { noWorkers } from '../../logql/lines-here.js';

/** A row that the backend shows from `visibleMs` on; all times are in milliseconds since the tail was opened. */
export interface LateRow {
  readonly atMs: number;
  readonly visibleMs: number;
  readonly line: string;
  readonly app?: string;
}

export interface Setting {
  readonly rows: readonly LateRow[];
  readonly rules?: Partial<FollowRules>;
  readonly delayMs?: number;
  /** Time until the next poll. */
  readonly gapMs?: () => number;
  /** Duration of a poll. It reads the rows that are visible when it starts. */
  readonly pollMs?: () => number;
  readonly isFailing?: (atMs: number) => boolean;
  readonly upstream?: TailContext['upstream'];
}

const openedNs = 1_793_491_200_000_000_000n;

/** The timestamp of an entry, in milliseconds since the tail was opened. */
export function msOf({ entry }: LiveEntry): number {
  return Number(entry.timestampNs - openedNs) / 1e6;
}

/** An event and its time of arrival. */
export interface Sent {
  readonly atMs: number;
  readonly event: LiveEvent;
}

/** The time at which a poll started, and the start of the range that it read. */
export interface Poll {
  readonly atMs: number;
  readonly fromMs: number;
}

/** The events of a tail until `untilMs`, and its polls. The fake clock only moves from poll to poll. */
export async function follow(
  setting: Setting,
  untilMs: number,
): Promise<{ readonly sent: readonly Sent[]; readonly polls: readonly Poll[] }> {
  const expr = parseQuery('{app=~".+"}', { dottedNames: 'reject' });
  if (expr.kind !== 'log') throw new Error('no log query');
  const plan = logsPlan(expr, new Naming(namesOptions()));
  const { gapMs = () => 600, pollMs = () => 0, isFailing = () => false, delayMs = 0 } = setting;
  const controller = new AbortController();
  const clock = new FakeClock(openedNs);
  const polls: Poll[] = [];
  const ns = (ms: number): bigint => openedNs + BigInt(Math.round(ms * 1e6));
  const rows = setting.rows
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ atMs, visibleMs, line, app }) => {
      const atNs = ns(atMs);
      return { atNs, visibleMs, row: rowOf(atNs, line, app) };
    });
  const context: TailContext = {
    filter: plan.filter,
    rules: {
      mode: 'synthetic',
      refreshMs: 600,
      reorderMs: 1_000,
      lookbackMs: 15_000,
      maxRemembered: 10_000,
      openTimeoutMs: 50,
      ...setting.rules,
    },
    delayNs: BigInt(delayMs) * 1_000_000n,
    upstream: setting.upstream ?? { tail: () => Promise.reject(new Error('no tail')) },
    turns: {
      next: () => {
        clock.advance(gapMs());
        if (clock.monotonicMs() >= untilMs) controller.abort();
        // Gives the backend's own tail a turn of the event loop.
        return new Promise((resolve) => setImmediate(resolve));
      },
    },
    reads: {
      newestFirst: () => {
        throw new Error('the history is read before');
      },
      all: async function* all({ startNs, endNs }) {
        const nowMs = clock.monotonicMs();
        polls.push({ atMs: nowMs, fromMs: Number(startNs - openedNs) / 1e6 });
        clock.advance(pollMs());
        await Promise.resolve();
        if (isFailing(nowMs)) throw new Error('away');
        yield rows
          .filter(({ atNs, visibleMs }) => visibleMs <= nowMs && atNs >= startNs && atNs < endNs)
          .map(({ row }) => row);
      },
    },
    reader,
    lines: new LineMaker(plan, true, { workers: noWorkers, signal: controller.signal }),
    recent: new RecentRows(setting.rules?.maxRemembered ?? 10_000, openedNs - 3_600_000_000_000n),
    clock,
    signal: controller.signal,
  };
  const sent: Sent[] = [];
  try {
    for await (const event of followLines(context, ns(-delayMs), new ReorderBuffer(context.rules.reorderMs)))
      sent.push({ atMs: clock.monotonicMs(), event });
  } finally {
    controller.abort();
  }
  return { sent, polls };
}

/** All entries of the events, in order. */
export function entriesOf(sent: readonly Sent[]): readonly LiveEntry[] {
  return sent.flatMap(({ event }) => (event.kind === 'entries' ? event.entries : []));
}

export function linesOf(sent: readonly Sent[]): readonly string[] {
  return entriesOf(sent).map(({ entry }) => entry.line);
}
