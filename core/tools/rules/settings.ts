import type { CommandFlag } from '../../kernel/options/index.js';
import { FlagReader } from '../queries/settings.js';
import { type RulesReportForm, rulesReportForms } from './report-rules.js';

export const convertFlags: readonly CommandFlag[] = [
  {
    name: 'output',
    kind: 'string',
    description: 'directory for the rule files of vmalert; without it, rules are only reported',
  },
  { name: 'tenant', kind: 'string', description: 'X-Scope-OrgID of the rules' },
  {
    name: 'tenant-directories',
    kind: 'boolean',
    description: 'directories below a given one are tenants, as in the local rule storage of Loki',
  },
  {
    name: 'stored-names',
    kind: 'string',
    description:
      'backend (default): ask the backend under which names labels are stored; as-written: under those of the rules',
  },
  {
    name: 'lookback',
    kind: 'string',
    description: 'time for which the backend is asked about names; default 24h',
  },
  {
    name: 'check',
    kind: 'boolean',
    description: 'evaluate both forms of each converted rule and compare the series',
  },
  {
    name: 'check-range',
    kind: 'string',
    description: 'with -check: time over which rules are evaluated; default 6h',
  },
  {
    name: 'check-times',
    kind: 'string',
    description: 'with -check: number of evaluations of each rule; default 30',
  },
  {
    name: 'check-until',
    kind: 'string',
    description: 'with -check: last time of evaluation, as RFC 3339 or Unix seconds; default one minute ago',
  },
  { name: 'format', kind: 'string', description: `${rulesReportForms.join(', ')}; default text` },
];

export interface ConvertSettings {
  readonly output: string | undefined;
  readonly tenant: string | undefined;
  readonly hasTenantDirectories: boolean;
  readonly asksNames: boolean;
  readonly lookbackMs: number;
  /** Times of evaluation in Unix seconds, oldest first; undefined if rules are not checked. */
  readonly times: readonly number[] | undefined;
  readonly form: RulesReportForm;
}

/** Maximum number of evaluations of a rule. */
const maxTimes = 10_000;
const defaultAgoMs = 60_000;

/** Throws UsageError with all problems. */
export function convertSettings(own: ReadonlyMap<string, string>, nowMs: number): ConvertSettings {
  const read = new FlagReader(own);
  const { problems } = read;
  const chosen = <Value extends string>(name: string, values: readonly [Value, ...Value[]]): Value => {
    const text = own.get(name) ?? values[0];
    const found = values.find((value) => value === text);
    if (found === undefined) problems.push(`-${name} must be ${values.join(' or ')}, not "${text}"`);
    return found ?? values[0];
  };
  const isChecked = own.get('check') === 'true';
  if (!isChecked)
    for (const { name } of convertFlags)
      if (name.startsWith('check-') && own.has(name)) problems.push(`-${name} requires -check`);
  const count = Number(own.get('check-times') ?? 30);
  if (!Number.isInteger(count) || count < 1 || count > maxTimes)
    problems.push(
      `-check-times must be a whole number from 1 to ${maxTimes}, not "${own.get('check-times') ?? ''}"`,
    );
  const untilMs = read.time('check-until', nowMs - defaultAgoMs);
  const rangeMs = read.duration('check-range', '6h');
  const settings: ConvertSettings = {
    output: own.get('output'),
    tenant: own.get('tenant'),
    hasTenantDirectories: own.get('tenant-directories') === 'true',
    asksNames: chosen('stored-names', ['backend', 'as-written']) === 'backend',
    lookbackMs: read.duration('lookback', '24h'),
    times: isChecked ? timesOf(untilMs, rangeMs, count) : undefined,
    form: chosen('format', rulesReportForms),
  };
  read.finish();
  return settings;
}

/** Whole seconds, evenly spread over the range, as vmalert evaluates at whole seconds. */
function timesOf(untilMs: number, rangeMs: number, count: number): readonly number[] {
  const last = Math.floor(untilMs / 1000);
  const step = rangeMs / 1000 / count;
  const times = Array.from({ length: count }, (_, index) => last - Math.floor((count - 1 - index) * step));
  return [...new Set(times)];
}
