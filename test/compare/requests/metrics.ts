import { aLabel, escaped, quoted, selector, aValue, type Context } from './context.js';
import { labelFilter, parser, stages } from './stages.js';

const logFunctions = [
  'count_over_time',
  'count_over_time',
  'rate',
  'bytes_over_time',
  'bytes_rate',
  'absent_over_time',
] as const;
const groupedFunctions = [
  'avg_over_time',
  'min_over_time',
  'max_over_time',
  'first_over_time',
  'last_over_time',
  'stddev_over_time',
  'stdvar_over_time',
  'quantile_over_time',
] as const;
const unwrapFunctions = ['sum_over_time', ...groupedFunctions, 'rate', 'rate_counter'] as const;
const groupedUnwrap: ReadonlySet<string> = new Set(groupedFunctions);
const vectorFunctions = [
  'sum',
  'sum',
  'sum',
  'avg',
  'min',
  'max',
  'count',
  'stddev',
  'stdvar',
  'topk',
  'bottomk',
  'sort',
  'sort_desc',
] as const;
const arithmetic = ['+', '-', '*', '/', '%', '^'] as const;
const comparisons = ['==', '!=', '>', '>=', '<', '<='] as const;
const setOps = ['and', 'or', 'unless'] as const;

/** A metric expression of at most `depth` levels over ranges. */
export function metric(context: Context, depth: number): string {
  const { random } = context;
  if (depth <= 0) return range(context);
  const kind = random.below(12);
  if (kind < 6) return vector(context, depth);
  if (kind < 9) return binary(context, depth);
  if (kind === 9) return labelReplace(context, depth);
  if (kind === 10 && random.chance(0.2))
    return random.pick(['vector(1)', 'vector(0.5)', '1 + 2', '2 ^ 3 ^ 2']);
  return range(context);
}

const intervals = [
  '1m',
  '5m',
  '10m',
  '10m',
  '30m',
  '30m',
  '1h',
  '1h',
  '90s',
  '2h',
  '3h',
  '45s',
  '1h30m',
  '100ms',
] as const;

export function range(context: Context): string {
  const { random } = context;
  const chosen = selector(context);
  const interval = random.pick(intervals);
  const offset = random.chance(0.12) ? ` offset ${random.pick(['5m', '1h', '-10m', '30s'])}` : '';
  if (random.chance(0.45)) return ofLines(context, chosen, interval, offset);
  const parsed = random.chance(0.75) ? ` ${parser(context)}` : '';
  const name = numericLabel(context);
  if (name === undefined) return ofLines(context, `${chosen}${parsed}`, interval, offset);
  const more = random.chance(0.35)
    ? random.pick([` ${labelFilter(context)}`, stages(context, 2, 1), ' | __error__!=""', ' | __error__=""'])
    : '';
  const conversion = conversionFor(context, name);
  const after = random.chance(0.75)
    ? ' | __error__=""'
    : random.chance(0.3)
      ? ` ${labelFilter(context)}`
      : '';
  const fn = random.pick(unwrapFunctions);
  const by = groupedUnwrap.has(fn) && random.chance(0.4) ? ` ${grouping(context)}` : '';
  const parameter =
    fn === 'quantile_over_time' ? `${random.pick(['0.5', '0.9', '0.99', '0', '1', '1.5', '-0.1'])}, ` : '';
  return `${fn}(${parameter}${chosen}${parsed}${more} | unwrap ${conversion}${after} [${interval}]${offset})${by}`;
}

function ofLines(context: Context, chosen: string, interval: string, offset: string): string {
  const { random } = context;
  const inner = random.chance(0.4) ? '' : stages(context, 3, 1);
  const query = random.chance(0.08)
    ? `${chosen}[${interval}]${offset}${inner}`
    : `${chosen}${inner} [${interval}]${offset}`;
  return `${random.pick(logFunctions)}(${query})`;
}

/** A label with a numeric value, occasionally another one; undefined if the entry has no number. */
function numericLabel(context: Context): string | undefined {
  const { random, known } = context;
  if (random.chance(0.15)) return aLabel(context);
  const numeric = [...known].filter(([, value]) => /^[-+.]?\d[\d.]*\s?[a-zµ]{0,3}$/i.test(value));
  return numeric.length === 0 ? undefined : random.pick(numeric)[0];
}

function conversionFor({ random, known }: Context, name: string): string {
  const value = known.get(name) ?? '';
  const isRight = random.chance(0.85);
  if (isRight && /\d(?:ns|us|µs|ms|s|m|h)$/.test(value))
    return random.pick([`duration(${name})`, `duration_seconds(${name})`]);
  if (isRight && /\d ?[kmgtKMGT]?i?[bB]$/.test(value)) return `bytes(${name})`;
  return random.chance(0.9) ? name : random.pick([`duration(${name})`, `bytes(${name})`]);
}

export function grouping(context: Context): string {
  const { random } = context;
  const names = random.several(3, () => aLabel(context), random.chance(0.05) ? 0 : 1);
  return `${random.pick(['by', 'by', 'by', 'without'])} (${[...new Set(names)].join(random.pick([',', ', ']))})`;
}

function vector(context: Context, depth: number): string {
  const { random } = context;
  const fn = random.pick(vectorFunctions);
  const inner = metric(context, depth - 1);
  if (fn.startsWith('sort')) return `${fn}(${inner})`;
  const parameter = /topk|bottomk/.test(fn) ? `${random.pick([1, 2, 3, 10])}, ` : '';
  const group = random.chance(0.75) ? grouping(context) : '';
  return random.chance(0.7)
    ? `${fn} ${group}${group === '' ? '' : ' '}(${parameter}${inner})`
    : `${fn}(${parameter}${inner}) ${group}`.trimEnd();
}

function binary(context: Context, depth: number): string {
  const { random } = context;
  const left = metric(context, depth - 1);
  const kind = random.below(10);
  if (kind < 4) {
    const op = random.pick(random.chance(0.5) ? arithmetic : comparisons);
    const bool = comparisons.some((one) => one === op) && random.chance(0.4) ? ' bool' : '';
    const value = random.pick(['0', '1', '2', '0.5', '100', '1e3', '-1']);
    return random.chance(0.8) ? `(${left} ${op}${bool} ${value})` : `(${value} ${op}${bool} ${left})`;
  }
  const right = random.chance(0.4) ? left : metric(context, depth - 1);
  if (kind < 6)
    return `(${left} ${random.pick(setOps)}${random.chance(0.3) ? ` ${matching(context)}` : ''} ${right})`;
  const op = random.pick(random.chance(0.7) ? arithmetic : comparisons);
  const bool = comparisons.some((one) => one === op) && random.chance(0.4) ? ' bool' : '';
  return `(${left} ${op}${bool}${random.chance(0.3) ? ` ${matching(context)}` : ''} ${right})`;
}

function matching(context: Context): string {
  const { random } = context;
  const names = random.several(2, () => aLabel(context)).join(', ');
  const group = random.chance(0.2)
    ? random.pick([' group_left', ' group_right', ` group_left (${aLabel(context)})`])
    : '';
  return `${random.pick(['on', 'ignoring'])} (${names})${group}`;
}

function labelReplace(context: Context, depth: number): string {
  const { random } = context;
  const inner = metric(context, depth - 1);
  const source = aLabel(context);
  const pattern = random.pick([
    '(.*)',
    '(.).*',
    escaped(aValue(context, source)),
    '(\\w+)-(\\d+)',
    '',
    '(?P<x>.+)',
  ]);
  const replacement = random.pick(['$1', '$1-$2', 'fixed', '', '${1}x', '$x', '$0']);
  return `label_replace(${inner}, "${random.pick(['dst', source, 'app'])}", ${quoted(random, replacement)}, "${source}", ${quoted(random, pattern)})`;
}
