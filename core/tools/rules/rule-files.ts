import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { textOrder } from '../../base/order.js';
import { asObject, asText, type Json } from '../../comparison/json.js';
import { UsageError } from '../../kernel/options/index.js';

/** A rule as a Loki ruler reads it. */
export interface LokiRule {
  /** Name of the alert or of the recorded series. */
  readonly name: string;
  readonly expr: string;
  /** All members but the expression, as they are. */
  readonly members: Json;
}

export interface LokiRuleGroup {
  readonly name: string;
  /** Members other than name and rules that vmalert reads, under its names. */
  readonly members: Json;
  readonly rules: readonly LokiRule[];
}

export interface LokiRuleFile {
  /** Path below the directory that was given. */
  readonly path: string;
  /** X-Scope-OrgID; undefined for rules without a tenant. */
  readonly tenant: string | undefined;
  readonly groups: readonly LokiRuleGroup[];
  /** Members that vmalert does not read. */
  readonly leftOut: readonly string[];
}

interface RuleFileSettings {
  /** The tenant of all rules. */
  readonly tenant: string | undefined;
  /** True if the first directory below a given one is a tenant, as in the local storage of a Loki ruler. */
  readonly hasTenantDirectories: boolean;
}

/** Maximum size of a file, and maximum number of files. */
const maxFileBytes = 16 * 1024 * 1024;
const maxFiles = 10_000;

/** Members of a group that vmalert reads, by their names in Loki, Mimir and Prometheus. */
const groupMembers: ReadonlyMap<string, string> = new Map(
  Object.entries({ interval: 'interval', limit: 'limit', labels: 'labels', query_offset: 'eval_delay' }),
);
const ruleMembers: ReadonlySet<string> = new Set([
  'alert',
  'record',
  'for',
  'keep_firing_for',
  'labels',
  'annotations',
]);

/** Reads the given files, and those below the given directories. Throws UsageError for a file that holds no rules. */
export async function readRuleFiles(
  paths: readonly string[],
  settings: RuleFileSettings,
): Promise<readonly LokiRuleFile[]> {
  const files: LokiRuleFile[] = [];
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) throw new UsageError([`there is no file ${path}`]);
    const below = found.isDirectory() ? await ruleFilesBelow(path) : [path];
    for (const file of below) {
      if (files.length === maxFiles) throw new UsageError([`there are more than ${maxFiles} files`]);
      const shown = found.isDirectory() ? relative(path, file) : basename(file);
      files.push(await readRuleFile(file, shown, tenantOf(shown, settings)));
    }
  }
  if (files.length === 0) throw new UsageError([`there is no rule file in ${paths.join(', ')}`]);
  return files;
}

function tenantOf(path: string, { tenant, hasTenantDirectories }: RuleFileSettings): string | undefined {
  const [first, second] = path.split(sep);
  return hasTenantDirectories && second !== undefined ? first : tenant;
}

async function ruleFilesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(?:ya?ml|rules|json)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort(textOrder);
}

async function readRuleFile(file: string, path: string, tenant: string | undefined): Promise<LokiRuleFile> {
  const { size } = await stat(file);
  if (size > maxFileBytes) throw new UsageError([`${file} is larger than ${maxFileBytes} bytes`]);
  const groups: LokiRuleGroup[] = [];
  const leftOut = new Set<string>();
  for (const document of parseAllDocuments(await readFile(file, 'utf8'), { logLevel: 'error' })) {
    const [error] = document.errors;
    if (error !== undefined) throw new UsageError([`${file}: ${error.message}`]);
    for (const group of groupsOf(document.toJS())) groups.push(readGroup(group, file, leftOut));
  }
  if (groups.length === 0) throw new UsageError([`${file}: no rule groups`]);
  return { path, tenant, groups, leftOut: [...leftOut] };
}

/**
 * The groups of a document: a rule file, one with a namespace as mimirtool and lokitool write it, or groups by namespace as Loki's API
 * lists them.
 */
function groupsOf(document: unknown): readonly Json[] {
  const root = asObject(document);
  const lists = Array.isArray(root['groups']) ? [root['groups']] : Object.values(root).filter(Array.isArray);
  return lists
    .flat()
    .map(asObject)
    .filter(({ rules }) => Array.isArray(rules));
}

function readGroup(group: Json, file: string, leftOut: Set<string>): LokiRuleGroup {
  const name = asText(group['name']);
  const where = `${file}: group ${JSON.stringify(name)}`;
  if (name === '') throw new UsageError([`${file}: a group has no name`]);
  const members: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(group)) {
    const known = groupMembers.get(key);
    if (known !== undefined) members[known] = value;
    else if (key !== 'name' && key !== 'rules') leftOut.add(`${key} of groups`);
  }
  // Checked by `groupsOf`.
  const rules = group['rules'] as readonly unknown[];
  return { name, members, rules: rules.map((rule) => readRule(asObject(rule), where, leftOut)) };
}

function readRule(rule: Json, where: string, leftOut: Set<string>): LokiRule {
  const { expr, ...others } = rule;
  const name = asText(rule['alert'] ?? rule['record']);
  if (name === '' || typeof expr !== 'string')
    throw new UsageError([`${where}: a rule needs an expr, and a name as alert or record`]);
  for (const key of Object.keys(others)) if (!ruleMembers.has(key)) leftOut.add(`${key} of rules`);
  const members = Object.fromEntries(Object.entries(others).filter(([key]) => ruleMembers.has(key)));
  return { name, expr: expr.trim(), members };
}
