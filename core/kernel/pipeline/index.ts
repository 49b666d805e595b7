/** Pipeline files: parsed with positions, checked by the rules of core/kernel/check, and resolved into what the kernel starts. */
export { loadPipeline } from './load.js';
export { packageBuiltIns, type BuiltIns } from './load-plugin.js';
export type { Finding, LoadedPlugin, Pipeline, Reread, SourcePosition } from './types.js';
