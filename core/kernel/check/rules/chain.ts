import { addTo } from '../../../base/order.js';
import { suggest } from '../../options/index.js';
import type { DraftEntry, PipelineDraft } from '../../pipeline/draft.js';
import { entryOf } from '../../pipeline/located.js';
import type { StagePlugin } from '../../plugin/contract.js';
import { textRules, type Complaint } from '../rule.js';
import {
  chainOf,
  gives,
  groupMisplacements,
  listWords,
  mendingMove,
  misplacements,
  moveTo,
  quoteAll,
  type ChainStage,
  type MisplacedGroup,
} from '../slot-order.js';

/** The built-in stages that provide slots which other built-in stages require, and the stage that answers, for advice. */
const builtInGivers: ReadonlyMap<string, string> = new Map([
  ['tenant', 'tenancy'],
  ['plan', 'translate'],
  ['upstream', 'backend'],
]);
const builtInAnswerer = 'response-shape';

export const chainRules = textRules('meaning', [
  {
    id: 'R030',
    title: 'a stage comes after the stages it needs',
    isAboutWhole: true,
    docs: 'A stage needs a slot, such as `tenant`, `plan` or `upstream`, that only a later stage gives. The finding points at the first stage that comes too early and says which move fixes it. One stage in the wrong position is reported once, with everything that it breaks.',
    check(draft) {
      const { stages } = chainOf(draft);
      return groupMisplacements(stages).flatMap((group): readonly Complaint[] => {
        const [first] = group.needers;
        if (first === undefined) return [];
        return [{ at: first.entry.at, message: explain(group), fix: mendingMove(stages, group) }];
      });
    },
  },
  {
    id: 'R031',
    title: 'every slot that a stage needs is given',
    isAboutWhole: true,
    docs: 'A stage needs a slot that no enabled stage of the file gives. Of the built-in stages, `tenancy` gives `tenant`, `translate` gives `plan` and `backend` gives `upstream`. A missing slot is reported once, at the first stage that needs it.',
    check(draft) {
      const { stages, isWhole } = chainOf(draft);
      // A stage that could not be loaded may be the one that provides it; that finding has priority.
      if (!isWhole) return [];
      const missing = new Map<string, ChainStage[]>();
      for (const needer of stages) {
        for (const slot of needer.plugin.needs) {
          if (stages.some((stage) => stage !== needer && gives(stage, slot))) continue;
          addTo(missing, slot, needer);
        }
      }
      return [...missing].flatMap(([slot, needers]): readonly Complaint[] => {
        const [first] = needers;
        if (first === undefined) return [];
        const message = `${quoteAll(needers)} ${needers.length === 1 ? 'needs' : 'need'} ${slot}, which no stage gives`;
        return [{ at: first.entry.at, message, fix: fixOf(draft, stages, first, slot) }];
      });
    },
  },
  {
    id: 'R032',
    title: 'only one stage gives a slot',
    isAboutWhole: true,
    docs: 'Two enabled stages give the same slot, so the second would overwrite the work of the first. Remove or disable one of them.',
    check(draft) {
      const first = new Map<string, ChainStage>();
      const complaints: Complaint[] = [];
      for (const stage of chainOf(draft).stages) {
        for (const slot of stage.plugin.gives) {
          const before = first.get(slot);
          if (before === undefined) {
            first.set(slot, stage);
            continue;
          }
          // The same entry listed twice is reported by its id.
          if (before.entry.id === stage.entry.id) continue;
          const message = `"${stage.entry.id}" gives ${slot}, which "${before.entry.id}" already gives (line ${before.entry.at.line})`;
          complaints.push({ at: stage.entry.at, message, fix: 'remove or disable one of the two' });
        }
      }
      return complaints;
    },
  },
  {
    id: 'R033',
    title: 'the last stage answers',
    isAboutWhole: true,
    docs: 'No stage follows the last one, so it must answer by itself (`rest: never`). Of the built-in stages, `response-shape` does.',
    check(draft) {
      const { stages, isWhole } = chainOf(draft);
      const last = stages.at(-1);
      // A stage that answers but is not last is reported by R034.
      if (!isWhole || last === undefined || stages.some((stage) => stage.plugin.rest === 'never')) return [];
      const message = `"${last.entry.id}" is the last stage but runs the rest of the chain: no stage answers`;
      const disabled = disabledStage(draft, ({ rest }) => rest === 'never');
      const fix =
        disabled === undefined
          ? `end the list with a stage that answers, such as "- use: ${builtInAnswerer}"`
          : `enable "${disabled.id}" (line ${disabled.at.line}), which answers`;
      return [{ at: last.entry.at, message, fix }];
    },
  },
  {
    id: 'R034',
    title: 'no stage follows the one that answers',
    isAboutWhole: true,
    docs: 'A stage that answers by itself never runs the stages after it, so those would have no effect.',
    check(draft) {
      const { stages } = chainOf(draft);
      const place = stages.findIndex((stage) => stage.plugin.rest === 'never');
      const terminal = stages[place];
      const behind = stages.slice(place + 1);
      const [first] = behind;
      if (terminal === undefined || first === undefined) return [];
      // Another finding already advises moving it.
      if (misplacements(stages).some((edge) => edge.needer === terminal)) return [];
      const verb = behind.length === 1 ? 'comes' : 'come';
      const message = `${quoteAll(behind)} ${verb} after "${terminal.entry.id}" (line ${terminal.entry.at.line}), which answers without running later stages`;
      return [
        { at: first.entry.at, message, fix: `move ${quoteAll(behind)} above line ${terminal.entry.at.line}` },
      ];
    },
  },
  {
    id: 'R035',
    title: 'there is a stage and an endpoint plugin',
    isAboutWhole: true,
    docs: 'Without an enabled endpoint plugin, no HTTP route is served; without an enabled stage, no request is answered.',
    check(draft) {
      return (['stages', 'endpoints'] as const).flatMap((list): readonly Complaint[] => {
        const written = entryOf(draft.root, list);
        // A list that is missing or malformed is reported by R006.
        if (written === undefined || (written.value.kind !== 'list' && !isNull(written.value))) return [];
        if (draft.entries.some((entry) => entry.list === list && entry.isEnabled)) return [];
        if (written.value.kind === 'list' && draft.shape.length > 0) return [];
        if (draft.lacksEntries === true) return [];
        const what =
          list === 'stages' ? 'stage: no request can be answered' : 'endpoint plugin: no route is served';
        const fix =
          list === 'stages'
            ? 'see pipelines/minimal.yaml for the smallest working pipeline'
            : 'add "- use: reference-api"';
        return [{ at: written.keyAt, message: `"${list}" has no enabled ${what}`, fix }];
      });
    },
  },
  {
    id: 'R036',
    title: 'custom stages come before the caches',
    severity: 'warning',
    isAboutWhole: true,
    docs: 'A cache (`tier0`, `kept-patterns`, `label-index`, `window-split`, `peer-cache`) answers without running the stages after it. A stage there that refuses, changes or counts requests by client would be skipped on cache hits, so one client could get an answer that only another may see. Move it above the caches or, if its result depends only on the request, the tenant and its options, set `behindCaches: true` in its definition.',
    check(draft) {
      const { stages } = chainOf(draft);
      return stages.flatMap((stage, place): readonly Complaint[] => {
        if (draft.schemas.has(stage.entry.use) || stage.plugin.behindCaches === true) return [];
        const cache = stages.slice(0, place).find(keepsAnswers);
        if (cache === undefined) return [];
        const line = cache.entry.at.line;
        const message = `"${stage.entry.id}" comes after "${cache.entry.id}" (line ${line}), which skips it on cache hits: one client could get an answer that was made for another`;
        const fix = canMove(stages, stage, cache)
          ? `move "${stage.entry.id}" above line ${line}, or declare behindCaches: true if it treats all clients of a tenant the same`
          : 'declare behindCaches: true if it treats all clients of a tenant the same';
        return [{ at: stage.entry.at, message, fix }];
      });
    },
  },
]);

function explain({ edges, needers, givers }: MisplacedGroup): string {
  const needs = needers.length === 1 ? 'needs' : 'need';
  const reasons = givers.map((giver) => {
    const slots = [...new Set(edges.filter((edge) => edge.giver === giver).map((edge) => edge.slot))];
    return `${listWords(slots)}, which the later stage "${giver.entry.id}" gives (line ${giver.entry.at.line})`;
  });
  return `${quoteAll(needers)} ${needs} ${listWords(reasons)}`;
}

function fixOf(draft: PipelineDraft, stages: readonly ChainStage[], first: ChainStage, slot: string): string {
  const disabled = disabledStage(draft, ({ gives }) => gives.some((given) => given === slot));
  if (disabled !== undefined) return `enable "${disabled.id}" (line ${disabled.at.line}), which gives it`;
  const giver = builtInGivers.get(slot);
  if (giver !== undefined) return `add "- use: ${giver}", which gives it, above line ${first.entry.at.line}`;
  const known = [...builtInGivers.keys(), ...stages.flatMap(({ plugin }) => plugin.gives)];
  const meant = suggest(slot, known);
  return meant === undefined ? 'add a stage before it that gives it' : `did you mean "${meant}"?`;
}

function disabledStage(
  { entries }: PipelineDraft,
  isWanted: (plugin: StagePlugin) => boolean,
): DraftEntry | undefined {
  return entries.find(
    ({ list, isEnabled, load }) =>
      list === 'stages' &&
      !isEnabled &&
      load.kind === 'loaded' &&
      load.plugin.kind === 'stage' &&
      isWanted(load.plugin),
  );
}

function isNull(node: { readonly kind: string; readonly value?: unknown }): boolean {
  return node.kind === 'scalar' && node.value === null;
}

function keepsAnswers({ plugin, entry }: ChainStage): boolean {
  return plugin.keepsAnswers === true && entry.options?.resolved.options['enabled'] !== false;
}

/** True if everything that a stage needs is available above the cache. */
function canMove(stages: readonly ChainStage[], stage: ChainStage, cache: ChainStage): boolean {
  return moveTo(stages, [stage], 'above', cache).unmet <= misplacements(stages).length;
}
