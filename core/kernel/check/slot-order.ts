import type { DraftEntry, PipelineDraft } from '../pipeline/draft.js';
import { valueOf } from '../pipeline/located.js';
import type { StagePlugin } from '../plugin/contract.js';

/** An enabled and loaded stage with its position in the chain. */
export interface ChainStage {
  readonly entry: DraftEntry;
  readonly plugin: StagePlugin;
}

/** The known part of the chain; `isWhole` is false if a stage could not be read or loaded, so that the slots it provides are unknown. */
interface DraftChain {
  readonly stages: readonly ChainStage[];
  readonly isWhole: boolean;
}

export function chainOf(draft: PipelineDraft): DraftChain {
  const drafted = draft.entries.filter((entry) => entry.list === 'stages');
  const enabled = drafted.filter((entry) => entry.isEnabled);
  const stages = enabled.flatMap((entry) =>
    entry.load.kind === 'loaded' && entry.load.plugin.kind === 'stage'
      ? { entry, plugin: entry.load.plugin }
      : [],
  );
  const items = valueOf(draft.root, 'stages');
  const written = items?.kind === 'list' ? items.items.length : 0;
  const hasAll = drafted.length === written && draft.lacksEntries !== true;
  return { stages, isWhole: stages.length === enabled.length && hasAll };
}

/** `needer` needs a slot that only the later stage `giver` provides. */
interface Misplacement {
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

/** Misplacements that one move fixes, with the stages on both sides in file order. */
export interface MisplacedGroup {
  readonly edges: readonly Misplacement[];
  readonly needers: readonly ChainStage[];
  readonly givers: readonly ChainStage[];
}

/**
 * Explains all misplacements with as few stages as possible: one misplaced stage breaks several others and should be named once. In a tie,
 * the first needer is blamed.
 */
export function groupMisplacements(stages: readonly ChainStage[]): readonly MisplacedGroup[] {
  const groups: MisplacedGroup[] = [];
  for (let left = misplacements(stages); left.length > 0;) {
    const edges = largestGroup(left);
    const inOrder = (role: 'needer' | 'giver'): readonly ChainStage[] =>
      stages.filter((stage) => edges.some((edge) => edge[role] === stage));
    groups.push({ edges, needers: inOrder('needer'), givers: inOrder('giver') });
    left = left.filter((edge) => !edges.includes(edge));
  }
  return groups;
}

/** The misplacements that share a stage which provides too late or needs too early, where that are most. */
function largestGroup(edges: readonly Misplacement[]): readonly Misplacement[] {
  let best: readonly Misplacement[] = [];
  for (const role of ['needer', 'giver'] as const) {
    for (const { [role]: culprit } of edges) {
      const own = edges.filter((edge) => edge[role] === culprit);
      if (own.length > best.length) best = own;
    }
  }
  return best;
}

/** The move that fixes a group: the givers up or the needers down, whichever leaves fewer unmet needs. */
export function mendingMove(stages: readonly ChainStage[], { needers, givers }: MisplacedGroup): string {
  const [needer, giver] = [needers[0], givers.at(-1)];
  if (needer === undefined || giver === undefined) return '';
  const up = moveTo(stages, givers, 'above', needer);
  const down = moveTo(stages, needers, 'below', giver);
  return up.unmet <= down.unmet ? up.words : down.words;
}

interface Move {
  /** Number of needs that are unmet after the move, and of stages to move beyond the first. */
  readonly unmet: number;
  readonly words: string;
}

export function moveTo(
  stages: readonly ChainStage[],
  moving: readonly ChainStage[],
  side: 'above' | 'below',
  other: ChainStage,
): Move {
  const rest = stages.filter((stage) => !moving.includes(stage));
  const place = rest.indexOf(other) + (side === 'below' ? 1 : 0);
  return {
    unmet: misplacements(rest.toSpliced(place, 0, ...moving)).length + moving.length - 1,
    words: `move ${quoteAll(moving)} ${side} line ${other.entry.at.line}`,
  };
}

/** `"a", "b" and "c"`. */
export function quoteAll(stages: readonly ChainStage[]): string {
  return listWords(stages.map((stage) => `"${stage.entry.id}"`));
}

export function listWords(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}
