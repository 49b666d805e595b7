import type { Finding } from '../../pipeline/types.js';
import { rules } from '../rules/index.js';

/** SARIF 2.1.0, for code scanning: one run with all rules and one result per finding. */
export function formatSarif(findings: readonly Finding[]): string {
  const run = {
    tool: {
      driver: {
        name: 'ref-proxy check',
        rules: rules.map((rule) => ({
          id: rule.id,
          shortDescription: { text: rule.title },
          fullDescription: { text: rule.docs },
          defaultConfiguration: { level: rule.severity },
          properties: { tier: rule.tier },
        })),
      },
    },
    columnKind: 'utf16CodeUnits',
    results: findings.map(resultOf),
  };
  const log = { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function resultOf({ at, rule, severity, message, fix }: Finding): object {
  return {
    ruleId: rule,
    ruleIndex: rules.findIndex(({ id }) => id === rule),
    level: severity,
    message: { text: fix === undefined ? message : `${message}; ${fix}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(at.file) },
          region: { startLine: at.line, startColumn: at.column, endColumn: at.column + at.length },
        },
      },
    ],
  };
}

/** Relative paths stay relative, so that a code scanner finds the file in its own checkout. */
function uriOf(file: string): string {
  const path = file.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
  const escaped = path.split('/').map(encodeURIComponent).join('/');
  return path.startsWith('/') ? `file://${escaped}` : escaped;
}
