import { readFile, stat } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { describeSystemError } from '../base/errors/system-error.js';
import { UsageError } from '../kernel/options/index.js';

/** Maximum size of a file with flags. */
const maxBytes = 1_048_576;

/** The variables of a file such as systemd's EnvironmentFile: one `NAME=value` per line, with or without quotes. */
export async function readEnvFile(file: string): Promise<Readonly<Record<string, string | undefined>>> {
  return parseEnv(await read(file));
}

/**
 * The flags in a YAML or JSON file: a list of arguments at any level (`args` or `command` of a container or a compose service), or the
 * mapping `extraArgs` of a chart's values.
 */
export async function readArgsFile(file: string): Promise<readonly string[]> {
  const text = await read(file);
  let value: unknown;
  try {
    value = parse(text, { schema: 'core', logLevel: 'silent' });
  } catch {
    throw new UsageError([`${file} is neither YAML nor JSON`]);
  }
  const found = [...argsIn(value)];
  const [first, ...others] = found;
  if (first === undefined) throw new UsageError([`${file} has no list of arguments and no extraArgs`]);
  if (others.length > 0)
    throw new UsageError([`${file} has ${found.length} lists of arguments; use a file with only one`]);
  return first;
}

async function read(file: string): Promise<string> {
  try {
    if ((await stat(file)).size > maxBytes)
      throw new UsageError([`${file} is larger than ${maxBytes} bytes`]);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError([`cannot read ${file}: ${describeSystemError(error)}`]);
  }
}

/** Finds lists of arguments; a YAML alias may refer to a node that contains it. */
function* argsIn(value: unknown, seen = new Set<object>()): Generator<readonly string[]> {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (Array.isArray(value) && value.some((item) => typeof item === 'string' && item.startsWith('-'))) {
    yield value.map(String);
    return;
  }
  for (const [key, part] of Object.entries(value) as [string, unknown][]) {
    if (key === 'extraArgs' && typeof part === 'object' && part !== null && !Array.isArray(part))
      yield Object.entries(part).map(([name, text]) => `-${name}=${String(text)}`);
    else yield* argsIn(part, seen);
  }
}
