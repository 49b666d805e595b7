import { readBuiltInSchemas } from '../../kernel/options/index.js';
import { generateErrorsDoc } from './errors-doc.js';
import { editorSchema } from './editor-schema.js';
import { generateFlagsDoc } from './flags-doc.js';
import { generateTypes } from './option-types.js';
import { generateRulesDoc } from './rules-doc.js';
import { allMetrics, generateMetricsDoc } from './metrics-doc.js';
import { generateAlerts } from './alerts.js';
import { generateDashboard } from './dashboard.js';
import { generatePushdownDoc } from './pushdown-doc.js';
import { generateStrategiesDoc } from './strategies-doc.js';
import { generateTestSchema } from '../pipeline-test/file-schema.js';

/** Every generated file by its path from the package's root. */
export async function generatedFiles(root: string): Promise<ReadonlyMap<string, string>> {
  const metrics = await allMetrics();
  const schemas = readBuiltInSchemas(root);
  return new Map([
    ['core/base/options.gen.ts', await generateTypes(schemas)],
    ['docs/flags.md', generateFlagsDoc(schemas)],
    ['schemas/pipeline.schema.json', `${JSON.stringify(editorSchema(schemas), undefined, 2)}\n`],
    ['docs/checker.md', await generateRulesDoc(root)],
    ['schemas/pipeline-test.schema.json', generateTestSchema()],
    ['docs/errors.md', generateErrorsDoc()],
    ['docs/metrics.md', await generateMetricsDoc()],
    ['examples/monitoring/dashboard.json', generateDashboard(metrics)],
    ['examples/monitoring/alerts.yaml', generateAlerts(metrics)],
    ['docs/pushdown.md', generatePushdownDoc()],
    ['docs/strategies.md', generateStrategiesDoc()],
  ]);
}
