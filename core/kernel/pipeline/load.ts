import { checkDraft } from '../check/check-draft.js';
import type { Surroundings } from '../check/rule.js';
import type { NamesOptions } from '../../base/options.gen.js';
import type { OptionSources } from '../options/index.js';
import {
  draftPipeline,
  rereadSection,
  type ListName,
  type PipelineDraft,
  type SectionName,
} from './draft.js';
import { packageBuiltIns, type BuiltIns } from './load-plugin.js';
import { readSource } from './source.js';
import type { Finding, LoadedPlugin, Pipeline } from './types.js';

/** A pipeline that can be started, or the reasons why not; warnings may accompany either. */
export interface LoadResult {
  readonly pipeline?: Pipeline;
  /** Sorted by file, line, column, rule. */
  readonly findings: readonly Finding[];
}

/**
 * Reads, checks and resolves a pipeline file, with the same rules (structure and meaning) as `ref-proxy check`. With surroundings, it also
 * checks what a start needs from the machine. Plugins are loaded but not created. Never throws because of the file's content.
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
  const rereadNames = async (): Promise<NamesOptions> => {
    const now = await readSource(file);
    if ('reason' in now) throw new Error(`${file} ${now.reason}`);
    return (await rereadSection('names', now, sources, builtIns)) as unknown as NamesOptions;
  };
  return { pipeline: { ...assemble(draft), rereadNames }, findings };
}

/** The finding for a file that cannot be read. */
export function unreadable(file: string, reason: string): Finding {
  const at = { file, line: 1, column: 1, length: 1 };
  return { at, rule: 'R001', severity: 'error', message: `the file ${reason}` };
}

/** Assembles the pipeline from a draft without errors. */
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

/** A section's options; the type is generated from the schema they were validated against. */
function section<Name extends SectionName>(draft: PipelineDraft, name: Name): Pipeline[Name] {
  // A test keeps options.gen.ts in step with the schema that resolved this value.
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
