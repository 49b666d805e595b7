/**
 * Options, which are only defined in schemas/*.schema.json. This module reads the schemas, and values from YAML, flags and environment. The
 * types of the options are in options.gen.ts.
 */

export { type CommandFlag, type CommandLine, parseCommandLine } from './command-line.js';
export { parseDuration, printDuration } from '../../base/time/option-duration.js';
export { FlagIndex } from './flag-index.js';
export { defaultText, helpText, specifiedVariables, unitOf } from './help.js';
export { decodeValue, environmentProblems, readEnvironment, readSetting } from './read-setting.js';
export {
  isNamedSource,
  namedSources,
  nameOfSource,
  type NamedSource,
  type OptionFinding,
  type OptionOrigin,
  type OptionSources,
  type ResolvedOptions,
  resolveOptions,
} from './resolve.js';
export { packageJson, packageVersion, shippedPipeline } from './schema-files.js';
export { builtInDefinitions, CORE_SECTIONS, packageRoot, readBuiltInSchemas } from './schema-files.js';
export {
  definitionsOf,
  type FileUse,
  isDuration,
  type OptionDefinition,
  type OptionSchema,
  type ValueSchema,
} from './schema.js';
export { withSecretFiles } from './secret-file.js';
export { editDistance, suggest } from './suggest.js';
export { printText, readText } from './text-value.js';
export { unknownFlag, UsageError } from './command-line.js';
export { type Environment, isOfKubernetes, servingFlags, unknownVariables, variableOf } from './variables.js';
export { problemsOf, schemaProblem, type ValueProblem } from './validate.js';
