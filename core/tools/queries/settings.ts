import { parseDuration } from '../../base/time/option-duration.js';
import { UsageError, type CommandFlag } from '../../kernel/options/index.js';
import type { Times } from './filled-queries.js';

/** Flags of every command that reads files with queries. */
export const queryFlags: readonly CommandFlag[] = [
  {
    name: 'range',
    kind: 'string',
    description: 'lengths of the time ranges, separated by commas; default 1h',
  },
  {
    name: 'until',
    kind: 'string',
    description: 'end of all ranges, as RFC 3339 or Unix seconds; default five minutes ago',
  },
  {
    name: 'variable',
    kind: 'string',
    description: 'values of dashboard variables, `name=value` separated by ;',
  },
];

/** Values of these flags, and of `-rate`. */
export interface QuerySettings extends Times {
  readonly variables: ReadonlyMap<string, string>;
  readonly rate: number;
}

const defaultAgoMs = 5 * 60_000;

/** Reads the texts of flags, and collects what is wrong with them. */
export class FlagReader {
  readonly problems: string[] = [];
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  number(name: string, fallback: number): number {
    const value = Number(this.#values.get(name) ?? fallback);
    if (!(value > 0))
      this.problems.push(`-${name} must be a number above 0, not "${this.#values.get(name) ?? ''}"`);
    return value;
  }

  duration(name: string, fallback: string): number {
    return this.#durationOf(name, this.#values.get(name) ?? fallback);
  }

  /** The lengths of ranges in milliseconds, at least one. */
  #ranges(): readonly number[] {
    const text = this.#values.get('range') ?? '1h';
    return text.split(',').map((part) => this.#durationOf('range', part.trim()));
  }

  /** A time in Unix milliseconds. */
  time(name: string, fallbackMs: number): number {
    const text = this.#values.get(name);
    if (text === undefined) return fallbackMs;
    const ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text);
    if (!Number.isFinite(ms)) this.problems.push(`-${name} must be a time, not "${text}"`);
    return ms;
  }

  /** The values of the flags that every command with queries has. */
  querySettings(): QuerySettings {
    return {
      variables: new Map(this.pairs('variable', /^([^=]+)=(.*)$/s)),
      endMs: this.time('until', Date.now() - defaultAgoMs),
      rangesMs: this.#ranges(),
      rate: this.number('rate', 5),
    };
  }

  /** Pairs separated by semicolons; the separator has one group for each part of a pair. */
  pairs(name: string, separator: RegExp): readonly (readonly [string, string])[] {
    return (this.#values.get(name) ?? '').split(';').flatMap((text) => {
      if (text.trim() === '') return [];
      const [, key = '', value = ''] = separator.exec(text) ?? [];
      if (key === '') this.problems.push(`-${name} has an invalid part: "${text.trim()}"`);
      return [[key.trim(), value.trim()] as const];
    });
  }

  oneOf<const Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice): Choice {
    const text = this.#values.get(name) ?? fallback;
    const chosen = choices.find((choice) => choice === text);
    if (chosen === undefined)
      this.problems.push(`-${name} must be one of ${choices.join(', ')}, not "${text}"`);
    return chosen ?? fallback;
  }

  /** Requires files. */
  files(positionals: readonly string[]): void {
    if (positionals.length === 0)
      this.problems.push('name files with queries: dashboards, rules, query logs or text');
  }

  /** Throws UsageError if anything is wrong. */
  finish(): void {
    if (this.problems.length > 0) throw new UsageError(this.problems);
  }

  #durationOf(name: string, text: string): number {
    const ms = parseDuration(text, 'long');
    if (ms === undefined || ms === 0)
      this.problems.push(`-${name} must be a duration such as 1h, not "${text}"`);
    return ms ?? 0;
  }
}
