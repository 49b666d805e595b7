/** Properties of a plugin to generate. */
export interface NewPlugin {
  /** Name of the package: `only-prod` or `@site/only-prod`. */
  readonly packageName: string;
  /** Name of the plugin, the last part of it. */
  readonly name: string;
  readonly kind: PluginKind;
  readonly language: 'ts' | 'js';
  /** The package that it is a plugin of: its name as package.json has it, and its version. */
  readonly house: { readonly name: string; readonly version: string };
  /** `file:` and the path of that package, where Node.js would not find it from the folder of the plugin. */
  readonly link: string | undefined;
}

export type PluginKind = 'stage' | 'endpoint' | 'service';

/** Files that differ between the kinds. */
export interface KindFiles {
  /** `a stage` */
  readonly title: string;
  /** Of the pipeline file. */
  readonly list: 'stages' | 'endpoints' | 'services';
  readonly code: (plugin: NewPlugin) => string;
  readonly test: (plugin: NewPlugin) => string;
  /** The entry in the pipeline file. */
  readonly use: (plugin: NewPlugin) => string;
  /** Tests of the pipeline file. */
  readonly pipelineTest: (plugin: NewPlugin) => string;
}

/** The module that a pipeline file in the folder names. */
export function moduleOf({ language }: NewPlugin): string {
  return language === 'ts' ? './dist/index.js' : './index.js';
}
