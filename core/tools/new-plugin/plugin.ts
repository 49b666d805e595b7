/** Properties of a plugin to generate. */
export interface NewPlugin {
  /** Name of the package: `only-prod` or `@site/only-prod`. */
  readonly packageName: string;
  /** Name of the plugin, which is the last part of the package name. */
  readonly name: string;
  readonly kind: PluginKind;
  readonly language: 'ts' | 'js';
  /** The package that the plugin is for: name and version in its package.json. */
  readonly house: { readonly name: string; readonly version: string };
  /** `file:` and the path of that package, if Node.js would not resolve it from the plugin's folder. */
  readonly link: string | undefined;
}

export type PluginKind = 'stage' | 'endpoint' | 'service';

/** Files that differ between the kinds of plugins. */
export interface KindFiles {
  /** Title in texts, such as `a stage`. */
  readonly title: string;
  /** The list in the pipeline file. */
  readonly list: 'stages' | 'endpoints' | 'services';
  readonly code: (plugin: NewPlugin) => string;
  readonly test: (plugin: NewPlugin) => string;
  /** Lines of its options in the pipeline file. */
  readonly options: readonly string[];
  /** Tests of the pipeline file, behind the line that names it. */
  readonly pipelineTest: (plugin: NewPlugin) => string;
}

/** The module that a pipeline file in the folder names. */
export function moduleOf({ language }: NewPlugin): string {
  return language === 'ts' ? './dist/index.js' : './index.js';
}
