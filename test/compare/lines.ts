import { LogqlError, parseQuery, visit, type LogExpr } from '../../core/logql/index.js';
import { matchesText } from '../../core/engine/plan/backend-pattern.js';
import type { Dataset, Entry, Stream } from './data/dataset.js';
import type { Question } from './question.js';

export interface PlacedEntry {
  readonly stream: Stream;
  readonly entry: Entry;
}

interface Selection {
  readonly fromNs: bigint;
  readonly toNs: bigint;
  readonly selects: (stream: Stream) => boolean;
}

/** The entries that a question's selectors and times select. */
export function linesOf(question: Question, data: Dataset): readonly PlacedEntry[] {
  const selections = selectionsOf(question);
  return data.tenants
    .filter(({ tenant }) => question.tenants.includes(tenant))
    .flatMap(({ streams }) => streams)
    .flatMap((stream) => {
      const own = selections.filter(({ selects }) => selects(stream));
      return stream.entries
        .filter(({ ns }) => own.some(({ fromNs, toNs }) => ns >= fromNs && ns <= toNs))
        .map((entry) => ({ stream, entry }));
    });
}

function selectionsOf({ query, window, atNs }: Question): readonly Selection[] {
  const [fromNs, toNs] = [window?.startNs ?? atNs ?? 0n, window?.endNs ?? atNs ?? 0n];
  if (query === undefined) return [{ fromNs, toNs, selects: () => true }];
  const selections: Selection[] = [];
  try {
    const expr = parseQuery(query.text);
    if (expr.kind === 'log') return [{ fromNs, toNs, selects: selecting(expr) }];
    visit(expr, (node) => {
      if (node.kind !== 'log-range') return;
      const { intervalNanoseconds, offsetNanoseconds, query: inner } = node;
      selections.push({
        fromNs: fromNs - offsetNanoseconds - intervalNanoseconds + 1n,
        toNs: toNs - offsetNanoseconds,
        selects: selecting(inner),
      });
    });
    return selections;
  } catch (error) {
    if (error instanceof LogqlError) return [];
    throw error;
  }
}

/** Loki adds `service_name` where it is missing, and `__tenant_id__` in requests for several tenants. */
function selecting({ selector: { matchers } }: LogExpr): (stream: Stream) => boolean {
  return ({ labels }) =>
    matchers.every(
      (matcher) =>
        (matcher.name === 'service_name' && !('service_name' in labels)) ||
        matcher.name === '__tenant_id__' ||
        matchesText(matcher, labels[matcher.name] ?? ''),
    );
}
