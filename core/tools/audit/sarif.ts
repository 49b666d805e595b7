import { adviceRules } from '../../engine/advice/rules.js';
import { formatSarifLog, type SarifFinding, type SarifRule } from '../../kernel/check/sarif.js';
import { printPlain } from '../../logql/index.js';
import type { AuditedQuery } from './audited.js';

const unparsed = 'unparsed-query';
const refused = 'refused-query';

const rules: readonly SarifRule[] = [
  {
    id: unparsed,
    shortDescription: { text: 'A query that Loki does not parse' },
    defaultConfiguration: { level: 'error' },
  },
  {
    id: refused,
    shortDescription: { text: 'A query that is refused' },
    defaultConfiguration: { level: 'error' },
  },
  ...adviceRules.map(({ id, title }) => ({
    id,
    shortDescription: { text: title },
    defaultConfiguration: { level: 'note' as const },
  })),
];

/** SARIF format, with errors at queries that get no answer and notes at those with advice. */
export function sarifReport({ audited }: { readonly audited: readonly AuditedQuery[] }): string {
  return formatSarifLog('ref-proxy audit', rules, audited.flatMap(findingsOf));
}

function findingsOf({ file, group, name, at, verdict }: AuditedQuery): readonly SarifFinding[] {
  const place = { file, ...(at === undefined ? {} : { ...at, endColumn: at.column + 1 }) };
  const title = group === file ? name : `${group}: ${name}`;
  if (verdict.kind !== 'answered') {
    const rule = verdict.kind === 'unparsed' ? unparsed : refused;
    return [{ rule, level: 'error', message: `${title}: ${verdict.error}`, ...place }];
  }
  return verdict.advice.map(({ rule, text, example, rewritten }) => {
    const written = rewritten === undefined ? example : printPlain(rewritten);
    const message = `${title}: ${text}${written === undefined ? '' : ` Write: ${written}`}`;
    return { rule: rule.id, level: 'note', message, ...place };
  });
}
