import { barChecks } from './bar-checks.js';
import { editorChecks } from './editor-checks.js';
import { emptyChecks } from './empty-checks.js';
import { lineChecks } from './line-checks.js';
import { findingChecks } from './finding-checks.js';
import { liveChecks } from './live-checks.js';
import type { Check } from './looks.js';
import { pageChecks } from './page-checks.js';
import { pipelineChecks } from './pipeline-checks.js';
import { planChecks } from './plan-checks.js';
import { readingChecks } from './reading-checks.js';
import { seriesChecks } from './series-checks.js';
import { shareChecks } from './share-checks.js';
import { spokenChecks } from './spoken-checks.js';

/** The claims of docs/ui.md about the page. */
export const checks: readonly Check[] = [
  ...pageChecks,
  ...editorChecks,
  ...barChecks,
  ...emptyChecks,
  ...shareChecks,
  ...lineChecks,
  ...liveChecks,
  ...readingChecks,
  ...seriesChecks,
  ...planChecks,
  ...pipelineChecks,
  ...findingChecks,
  ...spokenChecks,
];
