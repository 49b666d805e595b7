/** Decodes pushed data, by the definitions of OTLP (opentelemetry/proto/metrics/v1/metrics.proto) and the protobuf wire format. */

type Kind =
  | 'text'
  | 'hex'
  | 'whole'
  | 'flag'
  | 'fixed'
  | 'fixed32'
  | 'double'
  | 'fixedList'
  | 'doubleList'
  | Definition;
interface Definition {
  readonly [field: number]: readonly [name: string, kind: Kind, isRepeated?: 'repeated'];
}

const anyValue: Definition = { 1: ['stringValue', 'text'], 3: ['intValue', 'whole'] };
const keyValue: Definition = { 1: ['key', 'text'], 2: ['value', anyValue] };
const attributes = ['attributes', keyValue, 'repeated'] as const;
const numberPoint: Definition = {
  2: ['startTimeUnixNano', 'fixed'],
  3: ['timeUnixNano', 'fixed'],
  4: ['asDouble', 'double'],
  7: attributes,
};
const histogramPoint: Definition = {
  2: ['startTimeUnixNano', 'fixed'],
  3: ['timeUnixNano', 'fixed'],
  4: ['count', 'fixed'],
  5: ['sum', 'double'],
  6: ['bucketCounts', 'fixedList'],
  7: ['explicitBounds', 'doubleList'],
  9: attributes,
};
const temporality = ['aggregationTemporality', 'whole'] as const;
const metric: Definition = {
  1: ['name', 'text'],
  2: ['description', 'text'],
  5: ['gauge', { 1: ['dataPoints', numberPoint, 'repeated'] }],
  7: ['sum', { 1: ['dataPoints', numberPoint, 'repeated'], 2: temporality, 3: ['isMonotonic', 'flag'] }],
  9: ['histogram', { 1: ['dataPoints', histogramPoint, 'repeated'], 2: temporality }],
};
const scopeMetrics: Definition = {
  1: ['scope', { 1: ['name', 'text'] }],
  2: ['metrics', metric, 'repeated'],
};
const resourceMetrics: Definition = {
  1: ['resource', { 1: attributes, 2: ['droppedAttributesCount', 'whole'] }],
  2: ['scopeMetrics', scopeMetrics, 'repeated'],
};

/** An `ExportMetricsServiceRequest`, with the names of OTLP's JSON form. Throws an Error for fields that are undefined or malformed. */
export function decodeRequest(bytes: Buffer): unknown {
  return decode(bytes, { 1: ['resourceMetrics', resourceMetrics, 'repeated'] });
}

const span: Definition = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  3: ['traceState', 'text'],
  4: ['parentSpanId', 'hex'],
  5: ['name', 'text'],
  6: ['kind', 'whole'],
  7: ['startTimeUnixNano', 'fixed'],
  8: ['endTimeUnixNano', 'fixed'],
  9: attributes,
  10: ['droppedAttributesCount', 'whole'],
  12: ['droppedEventsCount', 'whole'],
  14: ['droppedLinksCount', 'whole'],
  15: ['status', { 2: ['message', 'text'], 3: ['code', 'whole'] }],
  16: ['flags', 'fixed32'],
};

/** An `ExportTraceServiceRequest`, in the same form. */
export function decodeTraces(bytes: Buffer): unknown {
  const scopeSpans: Definition = {
    1: ['scope', { 1: ['name', 'text'], 2: ['version', 'text'], 4: ['droppedAttributesCount', 'whole'] }],
    2: ['spans', span, 'repeated'],
    3: ['schemaUrl', 'text'],
  };
  const resource: Definition = { 1: attributes, 2: ['droppedAttributesCount', 'whole'] };
  return decode(bytes, {
    1: [
      'resourceSpans',
      { 1: ['resource', resource], 2: ['scopeSpans', scopeSpans, 'repeated'], 3: ['schemaUrl', 'text'] },
      'repeated',
    ],
  });
}

function decode(bytes: Buffer, definition: Definition): Readonly<Record<string, unknown>> {
  const read: Record<string, unknown> = {};
  let at = 0;
  const varint = (): bigint => {
    for (let [value, shift] = [0n, 0n]; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const [field, form] = [tag >> 3, tag & 7];
    const [name, kind, isRepeated] = definition[field] ?? [];
    if (name === undefined || kind === undefined) throw new Error(`field ${field} is not defined`);
    if (form !== formOf(kind)) throw new Error(`${name} has the form ${form}`);
    let value: unknown;
    if (form === 0) value = kind === 'flag' ? varint() === 1n : Number(varint());
    else {
      const length = form === 1 ? 8 : form === 5 ? 4 : Number(varint());
      const part = bytes.subarray(at, at + length);
      if (part.length < length) throw new Error(`${name} is cut off`);
      at += length;
      value = valueOf(part, kind);
    }
    if (isRepeated === undefined) read[name] = value;
    else ((read[name] ??= []) as unknown[]).push(value);
  }
  return read;
}

function formOf(kind: Kind): number {
  if (kind === 'whole' || kind === 'flag') return 0;
  if (kind === 'fixed32') return 5;
  return kind === 'fixed' || kind === 'double' ? 1 : 2;
}

function valueOf(part: Buffer, kind: Kind): unknown {
  const eights = Array.from({ length: part.length / 8 }, (_, at) => at * 8);
  switch (kind) {
    case 'text':
      return part.toString('utf8');
    case 'hex':
      return part.toString('hex');
    case 'fixed32':
      return part.readUInt32LE();
    case 'fixed':
      return String(part.readBigUInt64LE());
    case 'double':
      return part.readDoubleLE();
    case 'fixedList':
      return eights.map((at) => String(part.readBigUInt64LE(at)));
    case 'doubleList':
      return eights.map((at) => part.readDoubleLE(at));
    default:
      return typeof kind === 'object' ? decode(part, kind) : undefined;
  }
}

/** An `ExportMetricsServiceResponse` that reports rejected data points. */
export function partialSuccess(rejected: number, message: string): Buffer {
  const text = Buffer.from(message);
  const inner = Buffer.concat([Buffer.from([8, rejected, 18, text.length]), text]);
  return Buffer.concat([Buffer.from([10, inner.length]), inner]);
}

/** A `google.rpc.Status`. */
export function statusOf(code: number, message: string): Buffer {
  const text = Buffer.from(message);
  return Buffer.concat([Buffer.from([8, code, 18, text.length]), text]);
}
