import { allOption } from './documents.js';
import type { FoundVariable } from './found-query.js';

/** Maximum number of values of a variable that are joined for "All". */
const maxValues = 50;
/** Grafana's default for a data source without a scrape interval. */
const scrapeMs = 15_000;

export interface Span {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

/** Requests the values of a label, among the streams of a selector. */
export type LabelValues = (label: string, selector: string | undefined) => Promise<readonly string[]>;

/**
 * The values of a dashboard's variables, in order, because a later variable may use earlier ones. Taken from the command line, or else the
 * saved value, the listed ones, or the values of its label.
 */
export async function resolveVariables(
  variables: readonly FoundVariable[],
  given: ReadonlyMap<string, string>,
  span: Span,
  labelValues: LabelValues,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const values = new Map<string, readonly string[]>();
  for (const variable of variables)
    values.set(variable.name, await valuesOf(variable, values, given, span, labelValues));
  for (const [name, value] of given) values.set(name, [value]);
  return values;
}

async function valuesOf(
  { name, type, current, options, allValue, label, selector }: FoundVariable,
  values: ReadonlyMap<string, readonly string[]>,
  given: ReadonlyMap<string, string>,
  span: Span,
  labelValues: LabelValues,
): Promise<readonly string[]> {
  const own = given.get(name);
  if (own !== undefined) return [own];
  const isAll = current.includes(allOption);
  if (current.length > 0 && !isAll) return current;
  // A regular expression of the dashboard's author, which is not escaped.
  if (isAll && allValue !== undefined) return [allValue];
  // A text box may be empty.
  if (type === 'textbox' && options.length === 0) return [''];
  const asked =
    label === undefined || options.length > 0
      ? options
      : await labelValues(label, selector === undefined ? undefined : fillIn(selector, values, span).text);
  return isAll ? asked.slice(0, maxValues) : asked.slice(0, 1);
}

/**
 * A text with its variables filled in as by Grafana, and the names of those that have no value. Groups of a regular expression (`$1`) and
 * variables of a template (`{{ $x }}`) look like variables of a dashboard; they stay, as in Grafana.
 */
export function fillIn(
  text: string,
  values: ReadonlyMap<string, readonly string[]>,
  span: Span,
): { readonly text: string; readonly missing: readonly string[] } {
  const missing: string[] = [];
  const filled = text.replace(
    /\$\{(\w+)(?::(\w+))?\}|\[\[(\w+)(?::(\w+))?\]\]|\$(\w+)/g,
    (
      whole,
      braced: string | undefined,
      form: string | undefined,
      bracketed: string | undefined,
      otherForm: string | undefined,
      plain: string | undefined,
      offset: number,
    ) => {
      const name = braced ?? bracketed ?? plain ?? '';
      const builtIn = builtInVariable(name, span);
      if (builtIn !== undefined) return builtIn;
      const own = values.get(name);
      if (own === undefined || own.length === 0) {
        if (!/^\d+$/.test(name) && !isInTemplateAction(text, offset)) missing.push(name);
        return whole;
      }
      return formatted(own, form ?? otherForm);
    },
  );
  return { text: filled, missing };
}

function isInTemplateAction(text: string, offset: number): boolean {
  return text.lastIndexOf('{{', offset) > text.lastIndexOf('}}', offset);
}

/** The values in a format; by default, several values are alternatives of a regular expression. */
function formatted(values: readonly string[], form: string | undefined): string {
  switch (form) {
    case 'raw':
    case 'csv':
      return values.join(',');
    case 'pipe':
      return values.join('|');
    case 'regex':
      return values.length === 1 ? escaped(values[0] ?? '') : `(${values.map(escaped).join('|')})`;
    default:
      return values.length === 1 ? (values[0] ?? '') : values.map(escaped).join('|');
  }
}

/** Escapes a value like Grafana's Loki data source: for a regular expression in a quoted string. */
function escaped(value: string): string {
  return value.replace(/\\/g, '\\\\\\\\').replace(/[$^*{}[\]+?.()|]/g, '\\\\$&');
}

function builtInVariable(name: string, { startMs, endMs, stepMs }: Span): string | undefined {
  const rangeMs = endMs - startMs;
  switch (name) {
    case '__interval':
    case '__auto':
      return durationText(stepMs);
    case '__interval_ms':
      return String(stepMs);
    case '__rate_interval':
      return durationText(Math.max(4 * scrapeMs, stepMs + scrapeMs));
    case '__range':
      return durationText(rangeMs);
    case '__range_s':
      return String(Math.round(rangeMs / 1000));
    case '__range_ms':
      return String(rangeMs);
    case '__from':
      return String(startMs);
    case '__to':
      return String(endMs);
    default:
      return undefined;
  }
}

function durationText(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

/** Steps that Grafana rounds to, in milliseconds. */
const roundSteps: readonly number[] = [
  ...[
    1, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 20_000, 30_000, 60_000, 120_000, 300_000,
  ],
  ...[
    600_000, 900_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000,
    86_400_000,
  ],
];
const maxDataPoints = 1000;

/** The step that Grafana chooses for a range: about a thousand points, rounded to a usual step, and at least a second. */
export function autoStep(rangeMs: number): number {
  const exact = rangeMs / maxDataPoints;
  const step = roundSteps.find((round, index) => exact < (round + (roundSteps[index + 1] ?? Infinity)) / 2);
  return Math.max(1000, step ?? 86_400_000);
}
