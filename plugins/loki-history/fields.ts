import { FieldScan } from '../../core/engine/fields/field-scan.js';
import { scanStreams } from '../../core/engine/fields/detected-fields.js';
import type { Answer } from '../../core/plugin/index.js';
import { defaultStepNs } from '../../core/wire/api/params/reader.js';
import type {
  DetectedFieldsRequest,
  DetectedFieldValuesRequest,
} from '../../core/wire/api/discovery-request.js';
import { answerLogLines } from './log-lines.js';
import type { Sides } from './sides.js';

export type FieldsRequest = DetectedFieldsRequest | DetectedFieldValuesRequest;

/** Answers with the fields of the newest lines of both sides, which are read and parsed here: a Loki only gives numbers of values. */
export async function answerFields(
  request: FieldsRequest,
  untilNs: bigint,
  sides: Sides,
  place: ConstructorParameters<typeof FieldScan>[1],
  keepsDots: boolean,
): Promise<Answer> {
  const { query, range, limit, lineLimit } = request;
  const { streams, warnings } = await answerLogLines(
    {
      ...{ op: 'query_range', query, range, stepNs: defaultStepNs(range), limit: lineLimit },
      ...{ direction: 'backward', intervalNs: 0n },
    },
    untilNs,
    sides,
  );
  if (request.op === 'detected_fields') {
    const scan = new FieldScan({ maxFields: limit, keepsDots }, place);
    await scanStreams(streams, scan);
    return { kind: 'detected-fields', fields: await scan.fields(), limit, warnings };
  }
  const scan = new FieldScan({ maxFields: 1, keepsDots, only: request.name }, place);
  await scanStreams(streams, scan);
  const [field] = await scan.fields();
  return { kind: 'detected-field-values', values: field?.values.slice(0, limit) ?? [], limit, warnings };
}
