import { dirname, isAbsolute, join } from 'node:path';
import {
  CORE_SECTIONS,
  definitionsOf,
  nameOfSource,
  type OptionFinding,
  type OptionOrigin,
  type OptionSchema,
  type OptionSources,
  type ResolvedOptions,
  resolveOptions,
} from '../options/index.js';
import { type BuiltIns, loadPlugin, type PluginLoad } from './load-plugin.js';
import { expandIncludes } from './includes.js';
import { entryOf, type LocatedNode, placeOf, textOf, toPlain, valueOf, type YamlProblem } from './located.js';
import { readYaml } from './read-yaml.js';
import type { ShapeProblem } from './shape.js';
import type { SourceFile } from './source.js';
import type { SourcePosition } from './types.js';

export type SectionName = (typeof CORE_SECTIONS)[number];
export const LISTS = ['stages', 'endpoints', 'services'] as const;
export type ListName = (typeof LISTS)[number];

/** The options of a section or entry: as written, as resolved, and the errors found. */
export interface DraftOptions {
  /** Name of the owner in findings: `section "server"`, `plugin "guard"`. */
  readonly owner: string;
  readonly schema: OptionSchema;
  /** Position of findings about an option that is not in the file. */
  readonly at: SourcePosition;
  readonly node: LocatedNode | undefined;
  readonly resolved: ResolvedOptions;
  readonly findings: readonly OptionFinding[];
}

/** One item of stages, endpoints or services. */
export interface DraftEntry {
  readonly list: ListName;
  /** Position of the part of the item on its first line. */
  readonly at: SourcePosition;
  readonly use: string;
  readonly useAt: SourcePosition;
  readonly id: string;
  readonly idAt: SourcePosition;
  readonly isEnabled: boolean;
  readonly load: PluginLoad;
  /** Undefined if the plugin that defines the options could not be loaded. */
  readonly options?: DraftOptions;
}

/** A pipeline file before it is known to be valid: everything that the checker's rules inspect. */
export interface PipelineDraft {
  readonly source: SourceFile;
  /** Flags and environment with which it would be started. */
  readonly sources: OptionSources;
  /** Schemas of all sections and built-in plugins. */
  readonly schemas: ReadonlyMap<string, OptionSchema>;
  readonly root?: LocatedNode;
  readonly yaml: readonly YamlProblem[];
  readonly shape: readonly ShapeProblem[];
  readonly sections: ReadonlyMap<SectionName, DraftOptions>;
  readonly entries: readonly DraftEntry[];
  /** Its files by their name in positions: the pipeline file, and those that it includes. */
  readonly files: ReadonlyMap<string, SourceFile>;
  /** True if an included file cannot be used, so that entries may be missing. That is reported separately. */
  readonly lacksEntries?: boolean;
}

/** Reads the text of a pipeline and loads the plugins it names. Never throws because of the file's content. */
export async function draftPipeline(
  source: SourceFile,
  sources: OptionSources,
  builtIns: BuiltIns,
): Promise<PipelineDraft> {
  const read = readYaml(source, sources.env);
  const given = { source, sources, schemas: builtIns.schemas };
  if (read.root === undefined) {
    const files = new Map([[source.name, source]]);
    return { ...given, yaml: read.problems, shape: read.shape, sections: new Map(), entries: [], files };
  }
  const { root, problems, shape, files } = await expandIncludes(read.root, source, sources.env, LISTS);
  const sections = new Map<SectionName, DraftOptions>();
  for (const name of CORE_SECTIONS) sections.set(name, draftSection(name, root, source, sources, builtIns));
  const entries: DraftEntry[] = [];
  for (const list of LISTS) {
    const items = valueOf(root, list);
    for (const item of items?.kind === 'list' ? items.items : []) {
      const entry = await draftEntry(list, item, files.get(item.at.file) ?? source, sources, builtIns);
      if (entry !== undefined) entries.push(entry);
    }
  }
  const dataDir = sections.get('server')?.resolved.options['dataDir'];
  const placed = (draft: DraftOptions): DraftOptions =>
    typeof dataDir === 'string' && dataDir !== '' ? inFolder(draft, dataDir) : draft;
  const leaders = leadersOf([
    ...sections.values(),
    ...entries.flatMap(({ isEnabled, options }) => (isEnabled ? (options ?? []) : [])),
  ]);
  return {
    ...given,
    root,
    yaml: [...read.problems, ...problems],
    shape: [...read.shape, ...shape],
    files,
    lacksEntries: problems.length + shape.length > 0,
    sections: new Map([...sections].map(([name, options]) => [name, follow(options, leaders)])),
    entries: entries.map((entry) =>
      entry.options === undefined ? entry : { ...entry, options: placed(follow(entry.options, leaders)) },
    ),
  };
}

/** Puts the paths of files that it writes into the data folder (`-data-dir`), if they are relative or defaults. */
function inFolder(draft: DraftOptions, folder: string): DraftOptions {
  const { options, origins } = draft.resolved;
  const moved = definitionsOf('', draft.schema)
    .filter(({ fileUse }) => fileUse === 'write')
    .flatMap(({ key, dataFile }) => {
      const path = origins.get(key)?.kind === 'default' ? (dataFile ?? options[key]) : options[key];
      return typeof path === 'string' && path !== '' && !isAbsolute(path)
        ? [[key, join(folder, path)] as const]
        : [];
    });
  return { ...draft, resolved: { ...draft.resolved, options: { ...options, ...Object.fromEntries(moved) } } };
}

function draftSection(
  name: SectionName,
  root: LocatedNode,
  source: SourceFile,
  sources: OptionSources,
  builtIns: BuiltIns,
): DraftOptions {
  const schema = builtIns.schemas.get(name);
  if (schema === undefined) throw new Error(`schemas/${name}.schema.json is missing`);
  const node = valueOf(root, name);
  const at = entryOf(root, name)?.keyAt ?? { file: source.name, line: 1, column: 1, length: 1 };
  return draftOptions(`section "${name}"`, schema, node, at, sources);
}

/** Reads an entry; undefined if the item has no `use`, which the frame rule reports. */
async function draftEntry(
  list: ListName,
  item: LocatedNode,
  source: SourceFile,
  sources: OptionSources,
  builtIns: BuiltIns,
): Promise<DraftEntry | undefined> {
  const useNode = valueOf(item, 'use');
  const use = textOf(useNode);
  if (useNode === undefined || use === undefined || use === '') return undefined;
  const load = await loadPlugin(use, dirname(source.path), builtIns);
  const idNode = valueOf(item, 'id');
  const enabled = valueOf(item, 'enabled');
  const entry: DraftEntry = {
    list,
    at: firstLineOf(item.at, useNode.at),
    use,
    useAt: useNode.at,
    id: textOf(idNode) ?? (load.kind === 'loaded' ? load.plugin.name : use),
    idAt: idNode?.at ?? useNode.at,
    isEnabled: !(enabled?.kind === 'scalar' && enabled.value === false),
    load,
  };
  if (load.kind !== 'loaded') return entry;
  const name = load.plugin.name;
  const options = draftOptions(`plugin "${name}"`, load.schema, valueOf(item, 'with'), entry.useAt, sources);
  return { ...entry, options };
}

function draftOptions(
  owner: string,
  schema: OptionSchema,
  node: LocatedNode | undefined,
  at: SourcePosition,
  sources: OptionSources,
): DraftOptions {
  // Anything but a mapping is reported by the frame rule.
  const map = node?.kind === 'map' ? node : undefined;
  const resolved = resolveOptions(schema, map === undefined ? undefined : toPlain(map), sources);
  // An option that is unknown or has an invalid value is not also reported as missing.
  const findings = resolved.findings.filter(
    (finding) => finding.kind !== 'missing-option' || !isWritten(map, finding),
  );
  return { owner, schema, at, node: map, resolved, findings };
}

/** The finding names the missing option only in its message, in quotes. */
function isWritten(map: LocatedNode | undefined, finding: OptionFinding): boolean {
  const key = /"([^"]*)"/.exec(finding.message)?.[1];
  return (
    finding.place.kind === 'yaml' && finding.place.path.length === 0 && entryOf(map, key ?? '') !== undefined
  );
}

/** The position from the start of an item to the end of its `use`, if that is on the same line: `use: window-split`. */
function firstLineOf(item: SourcePosition, use: SourcePosition): SourcePosition {
  if (item.line !== use.line) return use;
  return { ...item, length: use.column + use.length - item.column };
}

/** The position of a finding about options: the key, the value, or the invalid flag or variable. */
export function placeOfOption(options: DraftOptions, finding: OptionFinding): SourcePosition {
  if (finding.place.kind !== 'yaml') return { ...options.at, given: nameOfSource(finding.place) };
  if (options.node === undefined) return options.at;
  if (finding.kind === 'missing-option' && finding.place.path.length === 0) return options.at;
  const place = placeOf(options.node, finding.place.path);
  return finding.place.at === 'key' || finding.kind === 'missing-option'
    ? (place.key ?? place.value)
    : place.value;
}

/** The value of an option that others share. */
interface Leader {
  readonly value: unknown;
  readonly origin: OptionOrigin;
}

function leadersOf(owners: readonly DraftOptions[]): ReadonlyMap<string, Leader> {
  const leaders = new Map<string, Leader>();
  for (const { schema, resolved } of owners) {
    for (const { key, flag } of definitionsOf('', schema)) {
      const origin = resolved.origins.get(key);
      if (flag === undefined || leaders.has(flag) || origin === undefined || origin.kind === 'default')
        continue;
      leaders.set(flag, { value: resolved.options[key], origin });
    }
  }
  return leaders;
}

/**
 * Applies values to options that describe the behaviour of another plugin (`x-shares`): the leading option's value in the file also applies
 * to the options that follow it and were not set, so that it need not be written twice. An option that was set keeps its value.
 */
function follow(draft: DraftOptions, leaders: ReadonlyMap<string, Leader>): DraftOptions {
  const { resolved, schema } = draft;
  const values = new Map(Object.entries(resolved.options));
  const origins = new Map(resolved.origins);
  for (const { key, shares } of definitionsOf('', schema)) {
    const leader = shares === undefined ? undefined : leaders.get(shares);
    if (leader === undefined || origins.get(key)?.kind !== 'default') continue;
    values.set(key, leader.value);
    // This option was not set: findings about it point at its owner.
    origins.set(key, leader.origin.kind === 'yaml' ? { kind: 'default' } : leader.origin);
  }
  return { ...draft, resolved: { ...resolved, options: Object.fromEntries(values), origins } };
}
