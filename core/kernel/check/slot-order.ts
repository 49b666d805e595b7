import type { DraftEntry, PipelineDraft } from '../pipeline/draft.js';
import { valueOf } from '../pipeline/located.js';
import type { StagePlugin } from '../plugin/contract.js';

/** An enabled and loaded stage with its position in the chain. */
export interface ChainStage {
  readonly entry: DraftEntry;
  readonly plugin: StagePlugin;
}

/** The known part of the chain; `isWhole` is false if a stage could not be read or loaded, so that the slots it provides are unknown. */
export interface DraftChain {
  readonly stages: readonly ChainStage[];
  readonly isWhole: boolean;
}

export function chainOf(draft: PipelineDraft): DraftChain {
  const entries = draft.entries.filter((entry) => entry.list === 'stages' && entry.isEnabled);
  const stages = entries.flatMap((entry) =>
    entry.load.kind === 'loaded' && entry.load.plugin.kind === 'stage'
      ? [{ entry, plugin: entry.load.plugin }]
      : [],
  );
  const items = valueOf(draft.root, 'stages');
  const written = items?.kind === 'list' ? items.items.length : 0;
  const drafted = draft.entries.filter((entry) => entry.list === 'stages').length;
  return {
    stages,
    isWhole: stages.length === entries.length && drafted === written && draft.lacksEntries !== true,
  };
}

/** `needer` needs a slot that only the later stage `giver` provides. */
export interface Misplacement {
  readonly needer: ChainStage;
  readonly giver: ChainStage;
  readonly slot: string;
}

/** All slots that are needed before the stage that provides them. */
export function misplacements(stages: readonly ChainStage[]): readonly Misplacement[] {
  return stages.flatMap((needer, index) =>
    needer.plugin.needs.flatMap((slot) => {
      if (stages.slice(0, index).some((before) => gives(before, slot))) return [];
      const giver = stages.slice(index + 1).find((behind) => gives(behind, slot));
      return giver === undefined ? [] : [{ needer, giver, slot }];
    }),
  );
}

export function gives(stage: ChainStage, slot: string): boolean {
  return stage.plugin.gives.some((given) => given === slot);
}

/** Misplacements that one move fixes. */
export interface MisplacedGroup {
  /** The misplaced stage: it provides too late or needs too early. */
  readonly culprit: ChainStage;
  readonly role: 'giver' | 'needer';
  readonly edges: readonly [Misplacement, ...Misplacement[]];
}

/**
 * Explains all misplacements with as few stages as possible: one misplaced stage breaks several others and should be named once. In a tie,
 * the first needer is blamed.
 */
export function groupMisplacements(stages: readonly ChainStage[]): readonly MisplacedGroup[] {
  let left = misplacements(stages);
  const groups: MisplacedGroup[] = [];
  for (;;) {
    const best = largestGroup(left);
    if (best === undefined) return groups;
    groups.push(best);
    const taken = new Set<Misplacement>(best.edges);
    left = left.filter((edge) => !taken.has(edge));
  }
}

function largestGroup(edges: readonly Misplacement[]): MisplacedGroup | undefined {
  let best: MisplacedGroup | undefined;
  for (const role of ['needer', 'giver'] as const) {
    for (const { [role]: culprit } of edges) {
      const [first, ...others] = edges.filter((edge) => edge[role] === culprit);
      if (first === undefined || 1 + others.length <= (best?.edges.length ?? 0)) continue;
      best = { culprit, role, edges: [first, ...others] };
    }
  }
  return best;
}

/** The move that fixes a group: the giver up or the needer down, whichever leaves fewer unmet needs. */
export function mendingMove(stages: readonly ChainStage[], group: MisplacedGroup): string {
  const up = moveUp(stages, group);
  const down = moveDown(stages, group);
  const best = up.unmet <= down.unmet ? up : down;
  return best.words;
}

interface Move {
  readonly unmet: number;
  readonly words: string;
}

/** Moves the last giver before the first needer; with several givers, all of them would have to move. */
function moveUp(stages: readonly ChainStage[], group: MisplacedGroup): Move {
  const needer = byPlace(
    stages,
    group.edges.map((edge) => edge.needer),
  )[0];
  const givers = byPlace(
    stages,
    group.edges.map((edge) => edge.giver),
  );
  if (needer === undefined) return { unmet: Infinity, words: '' };
  const rest = stages.filter((stage) => !givers.includes(stage));
  const place = rest.indexOf(needer);
  const moved = [...rest.slice(0, place), ...givers, ...rest.slice(place)];
  return {
    unmet: misplacements(moved).length + givers.length - 1,
    words: `move ${quoteAll(givers)} above line ${needer.entry.at.line}`,
  };
}

function moveDown(stages: readonly ChainStage[], group: MisplacedGroup): Move {
  const giver = byPlace(
    stages,
    group.edges.map((edge) => edge.giver),
  ).at(-1);
  const needers = byPlace(
    stages,
    group.edges.map((edge) => edge.needer),
  );
  if (giver === undefined) return { unmet: Infinity, words: '' };
  const rest = stages.filter((stage) => !needers.includes(stage));
  const place = rest.indexOf(giver) + 1;
  const moved = [...rest.slice(0, place), ...needers, ...rest.slice(place)];
  return {
    unmet: misplacements(moved).length + needers.length - 1,
    words: `move ${quoteAll(needers)} below line ${giver.entry.at.line}`,
  };
}

/** The stages without duplicates, in file order. */
export function byPlace(stages: readonly ChainStage[], some: readonly ChainStage[]): readonly ChainStage[] {
  return stages.filter((stage) => some.includes(stage));
}

/** `"a", "b" and "c"`. */
export function quoteAll(stages: readonly ChainStage[]): string {
  return listWords(stages.map((stage) => `"${stage.entry.id}"`));
}

export function listWords(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}
