/** What a plugin is to be. */
export interface NewPlugin {
  /** Name of the package: `only-prod` or `@site/only-prod`. */
  readonly packageName: string;
  /** Name of the plugin, the last part of it. */
  readonly name: string;
  readonly kind: 'stage' | 'endpoint';
  readonly language: 'ts' | 'js';
  /** Version of ref-proxy. */
  readonly version: string;
}

/** The module that a pipeline file in the folder names. */
export function moduleOf({ language }: NewPlugin): string {
  return language === 'ts' ? './dist/index.js' : './index.js';
}
