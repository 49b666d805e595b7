import type { Case } from '../conformance/cases.js';

/** The format of a time in a parameter. */
export type TimeForm = 'ns' | 's' | 'float' | 'rfc3339';

/** A request in parts, so that each part can be shrunk. */
export interface Question {
  readonly id: string;
  readonly family: string;
  /** Relative to `/loki/api/v1/`. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** Tenants in X-Scope-OrgID. */
  readonly tenants: readonly string[];
  /** The parameter with a query, or `match[]`. */
  readonly query?: { readonly name: string; readonly text: string };
  readonly window?: { readonly startNs: bigint; readonly endNs: bigint; readonly form: TimeForm };
  /** The time of an instant query. */
  readonly atNs?: bigint;
  readonly params: Readonly<Record<string, string>>;
  /** True if the request asks for categorized labels. */
  readonly isCategorized: boolean;
}

export function caseOf(question: Question): Case {
  const { query, window, atNs } = question;
  const sorts = /^\s*sort(_desc)?\s*[({bw]/.test(query?.text ?? '');
  return {
    id: question.id,
    family: question.family,
    method: question.method,
    path: `/loki/api/v1/${question.path}`,
    params: {
      ...(query === undefined ? {} : { [query.name]: query.text }),
      ...(window === undefined
        ? {}
        : {
            start: timeText(window.startNs, window.form),
            end: timeText(window.endNs, window.form),
          }),
      ...(atNs === undefined ? {} : { time: String(atNs) }),
      ...question.params,
    },
    headers: {
      'x-scope-orgid': question.tenants.join('|'),
      ...(question.isCategorized ? { 'x-loki-response-encoding-flags': 'categorize-labels' } : {}),
    },
    ordered: sorts && question.path === 'query',
  };
}

function timeText(ns: bigint, form: TimeForm): string {
  if (form === 's' && ns % 1_000_000_000n === 0n) return String(ns / 1_000_000_000n);
  if (form === 'float' && ns % 1_000_000n === 0n)
    return `${ns / 1_000_000_000n}.${String((ns / 1_000_000n) % 1000n).padStart(3, '0')}`;
  if (form === 'rfc3339') {
    const fraction = String(ns % 1_000_000_000n).padStart(9, '0');
    const seconds = new Date(Number(ns / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
    return fraction === '000000000' ? `${seconds}Z` : `${seconds}.${fraction}Z`;
  }
  return String(ns);
}
