/** The functions that templates of line_format and label_format may call: Loki's, then those of the language. */
export const templateFunctions: ReadonlySet<string> = new Set([
  ...['__line__', '__timestamp__', 'now'],
  ...['lower', 'upper', 'title', 'ToLower', 'ToUpper', 'trim', 'TrimSpace'],
  ...['urlencode', 'urldecode', 'b64enc', 'b64dec'],
  ...['trunc', 'substr', 'contains', 'hasPrefix', 'hasSuffix', 'replace', 'Replace'],
  ...['trimAll', 'trimPrefix', 'trimSuffix', 'Trim', 'TrimLeft', 'TrimRight', 'TrimPrefix', 'TrimSuffix'],
  ...['indent', 'nindent', 'repeat', 'alignLeft', 'alignRight'],
  ...['regexReplaceAll', 'regexReplaceAllLiteral', 'count'],
  ...['int', 'float64', 'add', 'mul', 'addf', 'mulf', 'max', 'min', 'maxf', 'minf', 'subf', 'divf'],
  ...['sub', 'div', 'mod', 'ceil', 'floor', 'round'],
  ...['bytes', 'duration', 'duration_seconds', 'fromJson', 'default'],
  ...['date', 'toDate', 'toDateInZone', 'unixToTime', 'unixEpoch', 'unixEpochMillis', 'unixEpochNanos'],
  ...['and', 'or', 'not', 'eq', 'ne', 'lt', 'le', 'gt', 'ge', 'len', 'index', 'slice'],
  ...['print', 'printf', 'println', 'html', 'js', 'urlquery', 'call'],
]);
