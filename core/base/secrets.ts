import { unescaped } from './url-credentials.js';

/** Placeholder for a secret. */
export const hidden = '(hidden)';

/** Shorter secrets are not searched for: they occur in too many other texts. */
const shortest = 4;
/** Maximum nesting of secrets: an option contains a header, its credentials a pair, and the pair a password. */
const mostNested = 4;
/** Maximum number of spellings, more than any configuration has; the oldest ones are dropped. */
const mostSpellings = 5_000;

/** User and password of a URL. */
const userInfo = /(\/\/)[^/@\s"'<>]*@/g;
/** Credentials in an Authorization header, but not the names of these schemes in a sentence. */
const authorization =
  /\b(basic|bearer)((?:\s|%20|\+){1,8})(?!(?:auth(?:entication|orization)?|realm|tokens?|scheme|credentials?|header|is|was|and|or|not|in|for|with)\b(?![-=]))[\w.~+/=%-]+/gi;

/** Matches the beginning of such credentials in JSON, where white space may be escaped. */
const schemeInJson = /(?:basic|bearer)[\s+%\\]/i;

/** Hides credentials by their form: user and password of a URL, an Authorization header. */
export function withoutCredentials(text: string): string {
  return text.replace(userInfo, `$1${hidden}@`).replace(authorization, `$1$2${hidden}`);
}

/**
 * As `withoutCredentials`, for a text that was meant as an address: everything before the last @ may be a password, however it is written.
 */
export function withoutUserInfo(text: string): string {
  return text.replace(/^([a-z][a-z\d+.-]*:\/\/|\/\/)?.*@/is, `$1${hidden}@`);
}

/** Tells whether a text contains a URL with a user name or a password. */
export function hasUserInfo(text: string): boolean {
  return text.search(userInfo) >= 0;
}

/** Secrets to hide in texts that may repeat them, such as a server's error: each is found in every usual spelling. */
export class Secrets {
  readonly #spellings = new Set<string>();
  /** Spellings, the longest first, because one may be a prefix of another. */
  #inOrder: readonly string[] | undefined;
  #inJson: readonly string[] | undefined;

  /** Adds a secret and the secrets within it: a password, the credentials of an Authorization header, the value of `name=value`. */
  add(secret: string): void {
    this.#inOrder = undefined;
    this.#inJson = undefined;
    for (const part of new Set(partsOf(secret, mostNested))) {
      for (const spelling of spellingsOf(part)) {
        // Reinserting makes it the newest.
        this.#spellings.delete(spelling);
        this.#spellings.add(spelling);
      }
    }
    for (const spelling of this.#spellings) {
      if (this.#spellings.size <= mostSpellings) break;
      this.#spellings.delete(spelling);
    }
  }

  addAll(secrets: Iterable<string>): void {
    for (const secret of secrets) this.add(secret);
  }

  /**
   * Tells whether a JSON text may contain a secret in one of its strings or names. One search of the whole text is faster than one per
   * string.
   */
  mayBeIn(json: string): boolean {
    this.#inJson ??= [
      ...new Set([...this.#spellings].map((spelling) => JSON.stringify(spelling).slice(1, -1))),
    ];
    for (const spelling of this.#inJson) if (json.includes(spelling)) return true;
    return (json.includes('@') && hasUserInfo(json)) || schemeInJson.test(json);
  }

  /** Hides these secrets, and any text that has the form of credentials. */
  readonly hide = (text: string): string => {
    this.#inOrder ??= [...this.#spellings].sort((a, b) => b.length - a.length);
    let shown = text;
    for (const spelling of this.#inOrder)
      if (shown.includes(spelling)) shown = shown.replaceAll(spelling, hidden);
    return withoutCredentials(shown);
  };
}

function* partsOf(secret: string, depth: number): Generator<string> {
  const text = secret.trim();
  if (text.length < shortest) return;
  // In `user://word` the password begins with slashes.
  if (/^(?:https?|rediss?):\/\//i.test(text) && URL.canParse(text)) {
    yield* partsOfUrl(new URL(text), text);
    return;
  }
  yield text;
  if (depth === 0) return;
  // Cookies.
  if (text.includes(';')) for (const pair of text.split(';')) yield* partsOf(pair, depth - 1);
  const [, scheme, credentials = ''] = /^([\w-]+)\s+(\S+)$/.exec(text) ?? [];
  if (scheme !== undefined) yield* partsOf(credentials, depth - 1);
  if (scheme?.toLowerCase() === 'basic')
    yield* partsOf(Buffer.from(credentials, 'base64').toString('utf8'), depth - 1);
  const [, value] = /^[^\s:=;]+[:=]\s*(.+)$/s.exec(text) ?? [];
  if (value !== undefined) yield* partsOf(value, depth - 1);
}

function* partsOfUrl(url: URL, text: string): Generator<string> {
  const { host, username, password, searchParams } = url;
  // The address of a server need not be secret.
  if (!text.replace(/\/$/, '').endsWith(`/${host}`)) yield text;
  const parts = [password, unescaped(password), ...searchParams.values()];
  if (password !== '') parts.push(`${unescaped(username)}:${unescaped(password)}`);
  for (const part of parts) if (part.length >= shortest) yield part;
}

function spellingsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text, 'utf8');
  const escaped = encodeURIComponent(bytes.toString('utf8'));
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    escaped,
    escaped.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
    escaped.replaceAll('%20', '+'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
  ];
}
