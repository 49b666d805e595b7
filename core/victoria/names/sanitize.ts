const plainIllegal = /[^A-Za-z0-9_]/gu;
const legalLabel = /^[A-Za-z_][A-Za-z0-9_]*$/;
const runOfOthers = /[^A-Za-z0-9]+/gu;
const doubleUnderscored = /^__.*__$/;
const onlyUnderscores = /^_*$/;
const scopeAttributePrefix = 'scope.attributes.';
/** The same few names are asked for again and again: every promoted attribute, for each label of each query. */
const keptNames = 4096;
const otelNames = new Map<string, string>();

/** Whether LogQL accepts the name as a label, unquoted and unchanged. */
export function isLegalLabel(name: string): boolean {
  return legalLabel.test(name);
}

/** A metadata name as Loki shows it after a push in Loki's format: every illegal character becomes `_`. */
export function sanitizePushed(name: string): string {
  return name.replace(plainIllegal, '_');
}

/**
 * An attribute name as Loki shows it after an OTLP export (otel-README, rule 4): runs of other characters become one `_`,
 * `__x__` keeps its underscores, a leading digit gets `key_`, and scope attributes lose the prefix that VictoriaLogs adds.
 */
export function sanitizeOtel(name: string): string {
  let shown = otelNames.get(name);
  if (shown === undefined) {
    shown = shownAfterOtlp(name);
    if (otelNames.size < keptNames) otelNames.set(name, shown);
  }
  return shown;
}

function shownAfterOtlp(name: string): string {
  const own = name.startsWith(scopeAttributePrefix) ? name.slice(scopeAttributePrefix.length) : name;
  const joined = own.replace(runOfOthers, '_');
  // Loki refuses such an export; a name that is stored anyway keeps the plain form.
  if (onlyUnderscores.test(joined)) return sanitizePushed(own);
  if (doubleUnderscored.test(own)) return `_${joined}_`;
  return /^[0-9]/.test(joined) ? `key_${joined}` : joined;
}
