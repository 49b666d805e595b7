import { badRequest } from './http/errors.js';

/** A fault to inject into requests whose path starts with `path`. The first matching rule is used. */
export interface FaultRule {
  readonly path: string;
  /** Matches only requests whose `query` argument contains this text. */
  readonly query?: string;
  /** Number of requests to which the rule applies; all by default. */
  readonly times?: number;
  /** Delay before anything else, in milliseconds. */
  readonly latencyMs?: number;
  /** Returns this status with `text` and does nothing else. */
  readonly status?: number;
  readonly text?: string;
  /** Never answers. */
  readonly hang?: boolean;
  /** Drops the connection after this many rows of a query, or halfway through any other answer. */
  readonly cutAfterRows?: number;
  /** Delay before each row (or each piece of another answer), in milliseconds. */
  readonly trickleMs?: number;
}

const NUMBER_KEYS = ['times', 'latencyMs', 'status', 'cutAfterRows', 'trickleMs'] as const;
const TEXT_KEYS = ['query', 'text'] as const;

/** The active fault rules. Without `enabled` there are none, and none can be set. */
export class Faults {
  readonly enabled: boolean;
  #rules: { readonly rule: FaultRule; left: number }[] = [];

  constructor(enabled: boolean) {
    this.enabled = enabled;
  }

  set(rules: readonly FaultRule[]): void {
    this.#rules = rules.map((rule) => ({ rule, left: rule.times ?? Infinity }));
  }

  list(): FaultRule[] {
    return this.#rules.map(({ rule }) => rule);
  }

  /** The rule for a request; counts as a use of it. */
  take(path: string, query: string): FaultRule | undefined {
    const found = this.#rules.find(
      ({ rule, left }) =>
        left > 0 && path.startsWith(rule.path) && (rule.query === undefined || query.includes(rule.query)),
    );
    if (found === undefined) return undefined;
    found.left--;
    return found.rule;
  }
}

/** Parses the body of `POST /-/faults`: one rule or an array of rules; HTTP 400 explains an error. */
export function parseFaultRules(text: string): FaultRule[] {
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '[]' : text);
  } catch (error) {
    throw badRequest(`cannot parse fault rules: ${error instanceof Error ? error.message : String(error)}`);
  }
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map(parseRule);
}

function parseRule(value: unknown): FaultRule {
  if (typeof value !== 'object' || value === null) throw badRequest('a fault rule must be an object');
  const rule: { -readonly [K in keyof FaultRule]: FaultRule[K] } = { path: '/' };
  for (const [key, item] of Object.entries(value) as [string, unknown][]) {
    const numberKey = NUMBER_KEYS.find((name) => name === key);
    const textKey = TEXT_KEYS.find((name) => name === key);
    if (key === 'path' && typeof item === 'string') rule.path = item;
    else if (key === 'hang' && typeof item === 'boolean') rule.hang = item;
    else if (numberKey !== undefined && typeof item === 'number' && item >= 0) rule[numberKey] = item;
    else if (textKey !== undefined && typeof item === 'string') rule[textKey] = item;
    else throw badRequest(`unknown or malformed fault option ${JSON.stringify(key)}`);
  }
  return rule;
}
