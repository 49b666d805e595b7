/** The place within the pipeline view, and its form in the page's URL. */

export const pipelineTabs = ['stages', 'queries', 'settings', 'mirror'] as const;
export type PipelineTab = (typeof pipelineTabs)[number];

export interface PipelinePlace {
  readonly tab: PipelineTab;
  /** The id of the open stage or plugin, or the name of the open section. */
  readonly part: string | undefined;
}

/** The place given by a hash: `view=pipeline&tab=queries`, `view=pipeline&stage=guard`. */
export function parsePlace(hash: string): PipelinePlace {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const part = params.get('stage') ?? '';
  return {
    tab: pipelineTabs.find((name) => name === params.get('tab')) ?? 'stages',
    part: part === '' ? undefined : part,
  };
}

/** True if a hash names a place. */
export function namesPlace(hash: string): boolean {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  return params.has('tab') || params.has('stage');
}

/** A hash with another place. */
export function withPlace(hash: string, { tab, part }: PipelinePlace): string {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  params.delete('tab');
  params.delete('stage');
  if (tab !== 'stages') params.set('tab', tab);
  if (part !== undefined) params.set('stage', part);
  return `#${params.toString()}`;
}
