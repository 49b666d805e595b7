import { readBuiltInSchemas, resolveOptions } from '../kernel/options/index.js';
import type { LimitsOptions, NamesOptions, ServerOptions, TelemetryOptions } from '../base/options.gen.js';

const schemas = readBuiltInSchemas();

/**
 * The resolved options of a core section or a built-in plugin: the schema's defaults with some values replaced. Values are given as in
 * YAML.
 */
export function optionsOf(
  owner: string,
  values: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const schema = schemas.get(owner);
  if (schema === undefined) throw new Error(`unknown schema "${owner}"`);
  const { options, findings } = resolveOptions(schema, values, { flags: new Map(), env: {} });
  const [finding] = findings;
  if (finding !== undefined) throw new Error(`options of ${owner}: ${finding.message}`);
  return options;
}

// The generated types describe exactly what resolveOptions returns for their schema.
export const serverOptions = (values?: Readonly<Record<string, unknown>>): ServerOptions =>
  optionsOf('server', values) as unknown as ServerOptions;
export const namesOptions = (values?: Readonly<Record<string, unknown>>): NamesOptions =>
  optionsOf('names', values) as unknown as NamesOptions;
export const limitsOptions = (values?: Readonly<Record<string, unknown>>): LimitsOptions =>
  optionsOf('limits', values) as unknown as LimitsOptions;
export const telemetryOptions = (values?: Readonly<Record<string, unknown>>): TelemetryOptions =>
  optionsOf('telemetry', values) as unknown as TelemetryOptions;
