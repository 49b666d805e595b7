import { formatIPv4 } from '../../../../core/base/ip.js';
import { formatFloatPlain } from '../../../../core/base/time/index.js';
import { upperText } from '../../../../core/logql/template/library/characters.js';
import { formatTime } from '../../../../core/victoria/logsql/literals.js';
import { parseLogsqlDuration, parsePlain } from '../../../../core/victoria/logsql/numbers.js';
import { formatOption } from '../../../../core/victoria/logsql/ops/format.js';
import { formatDuration } from '../bucket.js';
import { parseUnixTime } from '../unix-time.js';

function integerOf(value: string): number | undefined {
  const number = parsePlain(value);
  return number !== undefined && Number.isInteger(number) ? number : undefined;
}

/** Applies the option of a placeholder; a value that does not fit it stays unchanged. */
export function embeddedOption(option: string, value: string): string {
  switch (option) {
    case 'uc':
      return upperText(value);
    case 'base64encode':
      return Buffer.from(value).toString('base64');
    case 'base64decode':
      return /^[A-Za-z0-9+/]*={0,2}$/.test(value) ? Buffer.from(value, 'base64').toString('utf8') : value;
    case 'hexencode':
      return Buffer.from(value).toString('hex').toUpperCase();
    case 'hexdecode':
      return /^(?:[0-9A-Fa-f]{2})*$/.test(value) ? Buffer.from(value, 'hex').toString('utf8') : value;
    case 'hexnumencode':
      return /^\d{1,20}$/.test(value)
        ? BigInt.asUintN(64, BigInt(value)).toString(16).toUpperCase().padStart(16, '0')
        : value;
    case 'hexnumdecode':
      return /^[0-9A-Fa-f]{1,16}$/.test(value) ? BigInt(`0x${value}`).toString() : value;
    case 'urlencode':
      return encodeURIComponent(value).replaceAll('%20', '+');
    case 'urldecode':
      return decodeUrl(value);
    case 'duration': {
      const ns = integerOf(value);
      return ns === undefined ? value : formatDuration(ns);
    }
    case 'duration_seconds': {
      const ns = parseLogsqlDuration(value);
      return ns === undefined ? value : formatFloatPlain(ns / 1e9);
    }
    case 'ipv4': {
      const address = integerOf(value);
      return address === undefined || address < 0 || address > 0xffffffff ? value : formatIPv4(address);
    }
    case 'time': {
      const ns = parseUnixTime(value);
      return ns === undefined ? value : formatTime(ns);
    }
    default:
      return formatOption(option, value);
  }
}

function decodeUrl(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return value;
  }
}
