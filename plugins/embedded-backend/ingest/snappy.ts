/** Maximum size of a decoded block; a larger push is a mistake or an attack. */
const MAX_DECODED_BYTES = 64 * 1024 * 1024;

/** Decodes the snappy block format (a length, then literals and back references); throws on malformed input. */
export function decodeSnappy(input: Buffer): Buffer {
  const header = readVarint(input);
  if (header === undefined) throw new Error('cannot read snappy header: snappy: corrupt input');
  const [length, start] = header;
  if (length > MAX_DECODED_BYTES) throw new Error('snappy: decoded block is too large');
  const output = Buffer.alloc(length);
  let at = start;
  let filled = 0;
  while (at < input.length) {
    const tag = input[at++] ?? 0;
    if ((tag & 3) === 0) {
      let count = (tag >> 2) + 1;
      if (count > 60) {
        const bytes = count - 60;
        if (at + bytes > input.length) throw corrupt();
        count = input.readUIntLE(at, bytes) + 1;
        at += bytes;
      }
      if (at + count > input.length || filled + count > length) throw corrupt();
      input.copy(output, filled, at, at + count);
      at += count;
      filled += count;
      continue;
    }
    const offsetBytes = (tag & 3) === 1 ? 1 : (tag & 3) === 2 ? 2 : 4;
    if (at + offsetBytes > input.length) throw corrupt();
    const low = input.readUIntLE(at, offsetBytes);
    at += offsetBytes;
    const offset = offsetBytes === 1 ? ((tag >> 5) << 8) | low : low;
    const count = offsetBytes === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    if (offset === 0 || offset > filled || filled + count > length) throw corrupt();
    // Source and target may overlap (repeats), so bytes are copied one by one.
    for (let i = 0; i < count; i++, filled++) output[filled] = output[filled - offset] ?? 0;
  }
  if (filled !== length) throw corrupt();
  return output;
}

function readVarint(input: Buffer): readonly [number, number] | undefined {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = input[i];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return value > 0xffffffff ? undefined : [value, i + 1];
  }
  return undefined;
}

function corrupt(): Error {
  return new Error('snappy: corrupt input');
}
