import type { ParsedNames } from '../../../plan/columns.js';
import { captureLabels } from './captures.js';
import { regexpLabels } from './groups.js';
import { jsonThenLogfmtLabels } from './json-then-logfmt.js';
import { jsonLabels, jsonPathLabels } from './json.js';
import { logfmtLabels } from './logfmt.js';
import type { ParsedLabels } from './parsed-labels.js';

export function labelsOf({ parser }: Pick<ParsedNames, 'parser'>): ParsedLabels {
  switch (parser.from) {
    case 'json-keys':
      return jsonLabels;
    case 'json-then-pairs':
      return jsonThenLogfmtLabels;
    case 'json-paths':
      return jsonPathLabels(parser.paths);
    case 'pair-keys':
      return logfmtLabels;
    case 'captures':
      return captureLabels(parser.parts);
    case 'groups':
      return regexpLabels(parser.expression);
  }
}
