const legalLabel = /^[A-Za-z_][A-Za-z0-9_]*$/;
const runOfOthers = /[^A-Za-z0-9]+/gu;
const onlyUnderscores = /^_*$/;
const scopeAttributePrefix = 'scope.attributes.';
/** Maximum number of cached names. The same few names are requested repeatedly: every promoted attribute, for each label of each query. */
const keptNames = 4096;
const otelNames = new Map<string, string>();

/** True when LogQL accepts the name as a label, unquoted and unchanged. */
export function isLegalLabel(name: string): boolean {
  return legalLabel.test(name);
}

/**
 * A metadata name as Loki shows it (otel-README, rule 4): sequences of characters other than letters and digits become one `_`, also
 * between the underscores of `__x__`, and a leading digit gets the prefix `key_`.
 */
export function sanitizePushed(name: string): string {
  const isReserved = name.length >= 4 && name.startsWith('__') && name.endsWith('__');
  const joined = (isReserved ? name.slice(2, -2) : name).replace(runOfOthers, '_');
  const shown = isReserved ? `__${joined}__` : /^[0-9]/.test(joined) ? `key_${joined}` : joined;
  // Loki rejects a push with such a name; a stored one keeps its length.
  return onlyUnderscores.test(shown) ? '_'.repeat(name.length) : shown;
}

/** An attribute name as Loki shows it after an OTLP export: scope attributes lose the prefix that VictoriaLogs adds. */
export function sanitizeOtel(name: string): string {
  let shown = otelNames.get(name);
  if (shown === undefined) {
    const own = name.startsWith(scopeAttributePrefix) ? name.slice(scopeAttributePrefix.length) : name;
    shown = sanitizePushed(own);
    if (otelNames.size < keptNames) otelNames.set(name, shown);
  }
  return shown;
}
