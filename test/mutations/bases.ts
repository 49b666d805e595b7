import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot, readBuiltInSchemas, type OptionDefinition } from '../../core/kernel/options/index.js';
import { printDuration } from '../../core/base/time/option-duration.js';
import type { Random } from '../watch/random.js';
import { some } from './change.js';
import { lists, PipelineLines } from './pipeline-lines.js';

/** Options that need others, files, ports or the network, or that describe another plugin. */
const delicate =
  /tls|cold|peer|path|file|listen|secret|token|auth|url|backend|target|inventory|adaptive|latency|scan|tenant|version|persist|clustering|partition|warm|instrumentation/i;

/** The shipped pipeline files, as a base for changes. */
export function shippedTexts(): readonly string[] {
  const folder = join(packageRoot(), 'pipelines');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'));
}

const schemas = readBuiltInSchemas();

/** A shipped pipeline file with some additional options. */
export function someBase(random: Random): PipelineLines {
  let file = new PipelineLines(random.pick(shippedTexts()), schemas);
  for (let times = random.between(2, 6); times > 0; times -= 1) file = withOption(file, random);
  return file;
}

function withOption(file: PipelineLines, random: Random): PipelineLines {
  const owners = [...file.entries.map(({ use }) => use), 'server', 'names', 'limits', 'telemetry'];
  const owner = random.pick(owners);
  const free = file.optionsOf(owner).filter((option) => isFree(option, file, owner));
  const option = some(free, random);
  const value = option === undefined ? undefined : otherValue(option, random);
  if (option === undefined || value === undefined) return file;
  return new PipelineLines(withLine(file, owner, `${option.key}: ${value}`), schemas);
}

function isFree(
  { key, shares, isUnread, deprecated, flag }: OptionDefinition,
  file: PipelineLines,
  owner: string,
): boolean {
  if (shares !== undefined || isUnread || deprecated !== undefined) return false;
  if (delicate.test(key) || delicate.test(flag ?? '')) return false;
  return !file.options.some((given) => given.option.owner === owner && given.key === key);
}

/** The text with an additional line in a section, or in the options of an entry. */
export function withLine(file: PipelineLines, owner: string, line: string): string {
  const entry = file.entry(owner);
  if (entry === undefined) {
    const section = file.keys.find(({ key, indent }) => key === owner && indent === 0);
    if (section !== undefined) return file.splice(section.line + 1, 0, `  ${line}`);
    const stages = file.keys.find(({ key, indent }) => key === lists[0] && indent === 0);
    return file.splice(stages?.line ?? 0, 0, `${owner}:`, `  ${line}`, '');
  }
  const given = file.keys.find(({ key, line: at }) => key === 'with' && at > entry.from && at < entry.to);
  if (given !== undefined) return file.splice(given.line + 1, 0, `      ${line}`);
  return file.splice(entry.from + 1, 0, '    with:', `      ${line}`);
}

/** Generates a valid value for an option, as YAML. Returns undefined for options whose values cannot be generated. */
export function otherValue({ kind, schema }: OptionDefinition, random: Random): string | undefined {
  if (schema.enum !== undefined) return String(random.pick(schema.enum));
  switch (kind) {
    case 'boolean':
      return random.pick(['true', 'false']);
    case 'integer':
      return String(between(schema.minimum, schema.maximum, random));
    case 'number':
      return random.pick([
        String(between(schema.minimum, schema.maximum, random)),
        (schema.maximum ?? 9) > 2 ? '1.5' : '0.5',
      ]);
    case 'duration':
      return printDuration(random.between(60, 600) * 1000);
    default:
      return undefined;
  }
}

function between(least = 0, most = Infinity, random: Random): number {
  const low = Math.min(Math.max(least, 1), most);
  return random.between(low, Math.max(low, Math.min(most, low + 50)));
}
