import { checkDraft } from '../check/check-draft.js';
import type { Surroundings } from '../check/rule.js';
import type { OptionSources } from '../options/index.js';
import { draftPipeline, type ListName, type PipelineDraft, type SectionName } from './draft.js';
import { packageBuiltIns, type BuiltIns } from './load-plugin.js';
import { readSource } from './source.js';
import type { Finding, LoadedPlugin, Pipeline, Reread } from './types.js';

/**
 * Reads, checks and resolves a pipeline file, with the same rules (structure and meaning) as `ref-proxy check`. With surroundings, it also
 * checks what a start needs from the machine. Plugins are loaded but not created. Findings are sorted by file, line, column, rule.
 * Never throws because of the file's content.
 */
export async function loadPipeline(
  file: string,
  sources: OptionSources,
  builtIns: BuiltIns = packageBuiltIns(),
  surroundings?: Surroundings,
): Promise<Reread> {
  const source = await readSource(file);
  if ('reason' in source) return { findings: [unreadable(file, source.reason)] };
  const draft = await draftPipeline(source, sources, builtIns);
  const findings = await checkDraft(draft, { tiers: ['structure', 'meaning'], surroundings });
  if (findings.some((finding) => finding.severity === 'error')) return { findings };
  // The machine was checked at startup: the listeners of this process are open now.
  const reread = (): Promise<Reread> => loadPipeline(file, sources, builtIns);
  const files = [...draft.files.values()].map(({ path }) => path);
  return { pipeline: { ...assemble(draft), reread, files }, findings };
}

/** The finding for a file that cannot be read. */
export function unreadable(file: string, reason: string): Finding {
  const at = { file, line: 1, column: 1, length: 1 };
  return { at, rule: 'R001', severity: 'error', message: `the file ${reason}` };
}

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

/** A section's options; the type is generated from the schema by which they were validated. */
function section<Name extends SectionName>(draft: PipelineDraft, name: Name): Pipeline[Name] {
  // A test keeps options.gen.ts in step with the schema that resolved this value.
  return draft.sections.get(name)?.resolved.options as unknown as Pipeline[Name];
}

/** The plugins of a list. */
function plugins<List extends ListName>(draft: PipelineDraft, list: List): Pipeline[List] {
  const loaded = draft.entries.flatMap(
    ({ load, isEnabled, options, id, use, useAt: at, ...entry }): LoadedPlugin[] => {
      if (entry.list !== list || !isEnabled || load.kind !== 'loaded') return [];
      const { plugin, isOutdated } = load;
      return [{ id, use, plugin, options: options?.resolved.options ?? {}, at, isOutdated }];
    },
  );
  // A rule has checked that each is of the list's kind.
  return loaded as readonly LoadedPlugin[] as Pipeline[List];
}
