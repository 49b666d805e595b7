import { readBuiltInSchemas } from '../../../../core/kernel/options/index.js';
import { draftPipeline } from '../../../../core/kernel/pipeline/draft.js';
import type { BuiltIns } from '../../../../core/kernel/pipeline/load-plugin.js';
import type { Finding } from '../../../../core/kernel/pipeline/types.js';
import { lint as coldRouteLint } from '../../../../plugins/cold-route/lint.js';
import { lint as lokiHistoryLint } from '../../../../plugins/loki-history/lint.js';
import { lint as peerCacheLint } from '../../../../plugins/peer-cache/lint.js';
import { lint as tenancyLint } from '../../../../plugins/tenancy/lint.js';
import { lint as windowSplitLint } from '../../../../plugins/window-split/lint.js';
import { checkDraft } from '../../../../core/kernel/check/check-draft.js';
import type { Surroundings } from '../../../../core/kernel/check/rule.js';
import {
  defineEndpoint,
  defineService,
  defineStage,
  type Plugin,
  type SlotName,
} from '../../../../core/plugin/index.js';

interface Links {
  readonly needs?: readonly SlotName[];
  readonly gives?: readonly SlotName[];
  readonly rest?: 'never' | 'once' | 'maybe' | 'many';
  readonly keepsAnswers?: boolean;
}

function fakeStage(name: string, links: Links): Plugin {
  const { needs = [], gives = [], rest = 'once', keepsAnswers = false } = links;
  return defineStage<unknown, SlotName, SlotName>({
    name,
    summary: 'stands in for the real one',
    needs,
    gives,
    rest,
    keepsAnswers,
    create: () => ({ handle: () => Promise.reject(new Error('never created')) }),
  });
}

const endpoint = (name: string, servesAdmin = false): Plugin =>
  defineEndpoint({
    ...{ name, summary: 'stands in for the real one', servesAdmin },
    create: () => ({ routes: new Map() }),
  });
const service = (name: string): Plugin =>
  defineService({ name, summary: 'stands in for the real one', create: () => ({}) });

const plugins: readonly Plugin[] = [
  { ...fakeStage('tenancy', { gives: ['tenant'], rest: 'many' }), lint: tenancyLint },
  fakeStage('guard', { needs: ['tenant'] }),
  fakeStage('tier0', { needs: ['tenant'], rest: 'maybe', keepsAnswers: true }),
  fakeStage('label-index', { needs: ['tenant'], rest: 'maybe' }),
  { ...fakeStage('loki-history', { needs: ['tenant'], rest: 'many' }), lint: lokiHistoryLint },
  fakeStage('translate', { needs: ['tenant'], gives: ['plan'] }),
  { ...fakeStage('window-split', { needs: ['plan'], rest: 'many' }), lint: windowSplitLint },
  { ...fakeStage('cold-route', { rest: 'many' }), lint: coldRouteLint },
  { ...fakeStage('peer-cache', { needs: ['tenant'], rest: 'maybe' }), lint: peerCacheLint },
  fakeStage('drilldown', { needs: ['plan'], rest: 'many' }),
  fakeStage('backend', { needs: ['tenant'], gives: ['upstream'] }),
  fakeStage('response-shape', { needs: ['tenant', 'plan', 'upstream'], rest: 'never' }),
  endpoint('reference-api'),
  endpoint('status'),
  endpoint('admin', true),
  { ...service('embedded-backend'), isSingle: true },
  service('demo-data'),
];

/** The slots of the default plugins and the real schemas, without the plugins' code, so that rules are tested on their own. */
export const fakeBuiltIns: BuiltIns = {
  names: plugins.map((plugin) => plugin.name).sort(),
  schemas: readBuiltInSchemas(),
  load: (name) => Promise.resolve(plugins.find((plugin) => plugin.name === name)),
};

export interface CheckTextOptions {
  readonly name?: string;
  readonly path?: string;
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly isFragment?: boolean;
  readonly surroundings?: Surroundings;
}

/** The findings for a text. */
export async function checkText(text: string, options: CheckTextOptions = {}): Promise<readonly Finding[]> {
  const {
    name = 'site.yaml',
    path = '/nowhere/site.yaml',
    flags = {},
    env = {},
    isFragment = false,
  } = options;
  const sources = { flags: new Map(Object.entries(flags)), env };
  const draft = await draftPipeline({ name, path, text, isFragment }, sources, fakeBuiltIns);
  const { surroundings } = options;
  if (surroundings === undefined) return checkDraft(draft, { tiers: ['structure', 'meaning'] });
  return checkDraft(draft, { tiers: ['structure', 'meaning', 'environment'], surroundings });
}

/** `R007 14:7`, the part of a finding that tables compare. */
export function places(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ rule, at }) => `${rule} ${at.line}:${at.column}`);
}

/** A pipeline with the given stages; `top` goes above the lists. The first stage's entry is on line 3 when `top` is empty. */
export function pipelineOf(stages: readonly string[], top = ''): string {
  const items = stages.map((stage) => `  - use: ${stage}\n`).join('');
  return `version: 1\n${top}stages:\n${items}endpoints:\n  - use: reference-api\n`;
}

export const minimalStages = ['tenancy', 'translate', 'backend', 'response-shape'] as const;
