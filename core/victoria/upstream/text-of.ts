import { isAscii, isUtf8, transcode } from 'node:buffer';

/**
 * The text of bytes, as `toString('utf8')` gives it. That takes five times as long for bytes beyond ASCII as the detour by UTF-16, which
 * needs them to be valid.
 */
export function textOf(bytes: Buffer): string {
  return isAscii(bytes) || !isUtf8(bytes)
    ? bytes.toString('utf8')
    : transcode(bytes, 'utf8', 'utf16le').toString('utf16le');
}
