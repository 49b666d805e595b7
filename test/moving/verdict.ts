import { idOf, textOf, type Ledger, type PushedLine } from './ledger.js';
import type { Panel } from './panels.js';

/** An answer with the times of its request and response. */
export interface Seen {
  readonly panel: Panel;
  readonly startMs: number;
  readonly endMs: number;
  readonly askedMs: number;
  readonly seenMs: number;
  readonly result: readonly {
    readonly metric?: Labels;
    readonly values: readonly (readonly [unknown, string])[];
  }[];
  readonly limit: number;
}

type Labels = Readonly<Record<string, string>>;

/** The age of an answer with respect to one missing line. */
export interface Age {
  readonly ms: number;
  /** The delay between the line's timestamp and its arrival. */
  readonly lateMs: number;
}

export interface Verdict {
  /** Results that the data could not have produced at any moment. */
  readonly wrong: readonly string[];
  /** One for each missing line that the backend had when the request was sent. */
  readonly ages: readonly Age[];
}

export function verdictOf(seen: Seen, ledger: Ledger): Verdict {
  return seen.panel.kind === 'logs' ? ofLogs(seen, ledger) : ofCounts(seen, ledger);
}

function ageOf(line: PushedLine, askedMs: number): Age {
  return { ms: askedMs - line.takenMs, lateMs: line.sentMs - line.atMs };
}

/** Each value is a number of lines: finds the lines, in order of arrival, that are not counted yet. */
function ofCounts({ panel, result, startMs, endMs, askedMs, seenMs }: Seen, ledger: Ledger): Verdict {
  const { intervalMs, perLine } = panel.counts ?? { intervalMs: 0, perLine: 1 };
  const wrong: string[] = [];
  const ages: Age[] = [];
  const values = new Map(
    result.flatMap(({ metric, values: points }) =>
      points.map(([at, value]) => [`${metric?.['level'] ?? ''} ${Number(at) * 1000}`, Number(value)]),
    ),
  );
  const firstMs = Math.floor(startMs / panel.stepMs) * panel.stepMs;
  for (const level of ['info', 'warn', 'error']) {
    for (let atMs = firstMs; atMs <= endMs; atMs += panel.stepMs) {
      const lines = ledger.between(atMs - intervalMs, atMs, level);
      const counted = (values.get(`${level} ${atMs}`) ?? 0) / perLine;
      const most = lines.filter(({ sentMs }) => sentMs <= seenMs).length;
      if (counted > most || !Number.isInteger(counted))
        wrong.push(`${panel.name}: ${counted} lines at ${atMs}, of ${most}`);
      for (const line of lines.slice(counted)) if (line.takenMs <= askedMs) ages.push(ageOf(line, askedMs));
    }
  }
  return { wrong, ages };
}

function ofLogs({ panel, result, startMs, endMs, askedMs, seenMs, limit }: Seen, ledger: Ledger): Verdict {
  const texts = result.flatMap(({ values }) => values.map(([, line]) => line));
  const ids = new Set(texts.map(idOf));
  const wrong = ids.size === texts.length ? [] : [`${panel.name}: a line twice`];
  let oldestMs = Infinity;
  for (const text of texts) {
    const line = ledger.find(idOf(text));
    if (line === undefined || textOf(line) !== text || line.sentMs > seenMs)
      wrong.push(`${panel.name}: ${text} was not there`);
    else if (line.atMs < startMs || line.atMs >= endMs)
      wrong.push(`${panel.name}: ${text} is not of this time`);
    else oldestMs = Math.min(oldestMs, line.atMs);
  }
  const level = panel.query.includes('error') ? 'error' : undefined;
  const fromMs = texts.length < limit ? startMs - 1 : oldestMs;
  const missing = ledger
    .between(fromMs, endMs - 1, level)
    .filter(({ id, takenMs }) => takenMs <= askedMs && !ids.has(id));
  return { wrong, ages: missing.map((line) => ageOf(line, askedMs)) };
}
