export { compileTemplate, type CompiledTemplate, type Rendered } from './compile.js';
export { formatLimits } from './exec/limits.js';
export type { GetLabel, ListLabels } from './values.js';
