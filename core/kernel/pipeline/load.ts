import { checkDraft } from '../check/check-draft.js';
import type { Surroundings } from '../check/rule.js';
import type { OptionSources } from '../options/index.js';
import { draftPipeline, type ListName, type PipelineDraft, type SectionName } from './draft.js';
import { packageBuiltIns, type BuiltIns } from './load-plugin.js';
import { readSource } from './source.js';
import type { Finding, LoadedPlugin, Pipeline } from './types.js';

/** A pipeline that can be started, or why there is none; warnings may come with either. */
export interface LoadResult {
  readonly pipeline?: Pipeline;
  /** Sorted by file, line, column, rule. */
  readonly findings: readonly Finding[];
}

/**
 * Reads, checks and resolves a pipeline file: the same reading and the same rules (structure and meaning) as `ref-proxy check`.
 * With surroundings, what a start needs of the machine is checked too. Plugins are loaded, not created. Never throws for what the file holds.
 */
export async function loadPipeline(
  file: string,
  sources: OptionSources,
  builtIns: BuiltIns = packageBuiltIns(),
  surroundings?: Surroundings,
): Promise<LoadResult> {
  const source = await readSource(file);
  if ('reason' in source) return { findings: [unreadable(file, source.reason)] };
  const draft = await draftPipeline(source, sources, builtIns);
  const findings = await checkDraft(draft, {
    tiers: ['structure', 'meaning'],
    ...(surroundings === undefined ? {} : { surroundings }),
  });
  if (findings.some((finding) => finding.severity === 'error')) return { findings };
  return { pipeline: assemble(draft), findings };
}

/** The finding for a file whose text is out of reach. */
export function unreadable(file: string, reason: string): Finding {
  const at = { file, line: 1, column: 1, length: 1 };
  return { at, rule: 'R001', severity: 'error', message: `the file ${reason}` };
}

/** Puts together what the rules found to be whole. */
function assemble(draft: PipelineDraft): Pipeline {
  return {
    file: draft.source.name,
    server: section(draft, 'server'),
    names: section(draft, 'names'),
    limits: section(draft, 'limits'),
    telemetry: section(draft, 'telemetry'),
    stages: plugins(draft, 'stages'),
    endpoints: plugins(draft, 'endpoints'),
    services: plugins(draft, 'services'),
  };
}

/** The options of a section, by the type that is generated from the same schema they were validated against. */
function section<Name extends SectionName>(draft: PipelineDraft, name: Name): Pipeline[Name] {
  // options.gen.ts is generated from the schema that the value was resolved with; a test keeps the two together.
  return draft.sections.get(name)?.resolved.options as unknown as Pipeline[Name];
}

function plugins(draft: PipelineDraft, list: ListName): readonly LoadedPlugin[] {
  const loaded: LoadedPlugin[] = [];
  for (const entry of draft.entries) {
    if (entry.list !== list || !entry.isEnabled || entry.load.kind !== 'loaded') continue;
    const { id, use, useAt } = entry;
    loaded.push({
      id,
      use,
      plugin: entry.load.plugin,
      options: entry.options?.resolved.options ?? {},
      at: useAt,
    });
  }
  return loaded;
}
