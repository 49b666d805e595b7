const maxShown = 500;

/** Short quoted texts are matched too: otherwise their closing quote would be taken for an opening one. */
function unlessShort(quoted: string): string {
  const [quote = ''] = quoted;
  return quoted.length < 14 ? quoted : `${quote}...${quote}`;
}

/**
 * Matches single-quoted text. Apostrophes between letters, as in `couldn't`, are part of a word: they neither start nor end a quoted text.
 */
const singleQuoted = /(?<![\p{L}\p{N}])'(?:[^']|(?<=[\p{L}\p{N}])'(?=[\p{L}\p{N}]))*'/gu;

/** Matches URLs, except links to the documentation of VictoriaLogs, which are advice. */
const url = /\b[a-z][a-z\d+.-]{0,20}:\/\/(?!docs\.victoriametrics\.com\/)[^\s"'`<>()]+/gi;
const ipv4 = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?!\.?\w)/g;
/** Matches IPv6 addresses with `::` or all groups, since others look like times. */
const ipv6 =
  /\[[\da-f:.]{0,45}:[\da-f:.]{0,45}(?:%\w+)?\](?::\d{1,5})?|(?<![\w:])(?:(?:[\da-f]{1,4}:){7}[\da-f]{1,4}|(?:[\da-f]{1,4}(?::[\da-f]{1,4}){0,6})?::(?:[\da-f]{1,4}(?::[\da-f]{1,4}){0,6})?)(?![\w:])/gi;
const hostPort = /(?<![\w./-])([\w.-]+):\d{2,5}(?!\w|[.:]\d)/g;
/** Matches host names that only exist in an internal network. */
const insideHost =
  /(?<![\w./-])[a-z\d][\w-]*(?:\.[\w-]+)*\.(?:internal|local|localdomain|lan|intranet|corp|home|svc)(?![\w-])/gi;
/** A name that a resolver failed to look up. */
const lookup = /\b(lookup|getaddrinfo(?: [A-Z_]+)?) [^\s:]+/g;
/** Matches paths of two or more segments, except the backend's own public routes. */
const path =
  /(?<![\w./:-])(?!\/(?:select|delete|insert|internal|metrics|health)\b)\/[\w.@%+-]+(?:\/[\w.@%+-]*)+/g;

/** Removes addresses, and names of hosts and files, from a text. `hosts` are host names that look like ordinary words. */
export function withoutAddresses(text: string, hosts: ReadonlySet<string> = new Set()): string {
  return text
    .replace(url, '...')
    .replace(lookup, '$1 ...')
    .replace(ipv6, '...')
    .replace(ipv4, '...')
    .replace(hostPort, (found, host: string) => {
      // `limit:1000` is not a host.
      const isHost = hosts.has(host) || host === 'localhost' || (/[a-z]/i.test(host) && /[\d.-]/.test(host));
      return isHost ? '...' : found;
    })
    .replace(insideHost, '...')
    .replace(path, '...');
}

/**
 * Removes data from a backend's error text before a client sees it: selectors, quoted texts of 12 or more characters and long hex numbers;
 * truncated to 500 characters (docs/protocol/errors-and-limits.md#error-body).
 */
export function redact(text: string): string {
  const shown = text
    .trim()
    .replace(/\{[^{}]*\}/g, '{...}')
    .replace(/"(?:[^"\\]|\\.)*"/g, unlessShort)
    .replace(/`[^`]*`/g, unlessShort)
    .replace(singleQuoted, unlessShort)
    .replace(/\b[0-9a-fA-F]{16,}\b/g, '...');
  return shown.length > maxShown ? `${shown.slice(0, maxShown)}...` : shown;
}
