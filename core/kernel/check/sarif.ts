/** A rule in a SARIF log. */
export interface SarifRule {
  readonly id: string;
  readonly shortDescription: { readonly text: string };
  readonly fullDescription?: { readonly text: string };
  readonly defaultConfiguration: { readonly level: SarifLevel };
  readonly properties?: Readonly<Record<string, unknown>>;
}

type SarifLevel = 'error' | 'warning' | 'note';

/** A finding at a position of a file; lines and columns count from 1, and `endColumn` is exclusive. */
export interface SarifFinding {
  readonly rule: string;
  readonly level: SarifLevel;
  readonly message: string;
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly endColumn?: number;
}

/** Format for code scanning, SARIF 2.1.0: one run with all rules and one result per finding. */
export function formatSarifLog(
  tool: string,
  rules: readonly SarifRule[],
  findings: readonly SarifFinding[],
): string {
  const run = {
    tool: { driver: { name: tool, rules } },
    columnKind: 'utf16CodeUnits',
    results: findings.map((finding) => resultOf(finding, rules)),
  };
  const log = { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function resultOf(
  { rule, level, message, file, line, column, endColumn }: SarifFinding,
  rules: readonly SarifRule[],
): object {
  const region = line === undefined ? {} : { region: { startLine: line, startColumn: column, endColumn } };
  return {
    ruleId: rule,
    ruleIndex: rules.findIndex(({ id }) => id === rule),
    level,
    message: { text: message },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, ...region } }],
  };
}

/** Relative paths stay relative, so that a code scanner finds the file in its own checkout. */
function uriOf(file: string): string {
  const path = file.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
  const escaped = path.split('/').map(encodeURIComponent).join('/');
  return path.startsWith('/') ? `file://${escaped}` : escaped;
}
