import { formatShare } from './figures.js';
import type { LoadedPipeline, Mirrored, MirroredDifference } from './wire.js';

/** The state of mirroring: the pipeline has no stage `mirror`, the stage is off, or it is on and may report differences. */
export type MirrorState = 'absent' | 'off' | 'on';

export function mirrorState({ stages }: Pick<LoadedPipeline, 'stages'>): MirrorState {
  const stage = stages.find(({ name }) => name === 'mirror');
  if (stage === undefined) return 'absent';
  const option = (key: string) => stage.options.find((one) => one.key === key);
  return option('url')?.isSet !== true || option('percent')?.value === '0' ? 'off' : 'on';
}

/** An outcome of mirrored requests, with its share of all that were compared or failed. */
export interface OutcomeShare {
  readonly name: string;
  readonly count: number;
  readonly share: string;
  readonly kind: 'equal' | 'different' | 'failed' | 'other';
}

export function outcomeShares({ outcomes }: Mirrored): readonly OutcomeShare[] {
  const { equal, different, failed, skipped, not_sent: notSent } = outcomes;
  const sent = equal + different + failed + skipped;
  return [
    { name: 'Equal', count: equal, share: formatShare(equal, sent), kind: 'equal' },
    { name: 'Different', count: different, share: formatShare(different, sent), kind: 'different' },
    { name: 'Failed', count: failed, share: formatShare(failed, sent), kind: 'failed' },
    { name: 'Skipped', count: skipped, share: formatShare(skipped, sent), kind: 'other' },
    { name: 'Not sent', count: notSent, share: '', kind: 'other' },
  ];
}

/** The query of a mirrored request; undefined for requests without one. */
export function queryOf({ request }: MirroredDifference): string | undefined {
  const { query } = request.params;
  return typeof query === 'string' && query !== '' ? query : undefined;
}

/** The parameters of a request besides its query, as texts. */
export function paramTexts({ request }: MirroredDifference): readonly string[] {
  return Object.entries(request.params).flatMap(([name, value]) => {
    if (name === 'query') return [];
    return [value].flat().map((one) => `${name}=${one}`);
  });
}

/** The differences from the newest to the oldest; without those that docs/differences.md explains, if wanted. */
export function shownDifferences({ data }: Mirrored, onlyUnknown: boolean): readonly MirroredDifference[] {
  return data.filter(({ known }) => !onlyUnknown || known === undefined).toReversed();
}
