/** The Authorization header of HTTP's basic scheme. */
export function basicAuthorization(pair: string): string {
  return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
}

/** The Authorization header for the user and password of a URL; undefined when it has none. */
export function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return basicAuthorization(`${unescaped(username)}:${unescaped(password)}`);
}

/** Decodes the percent escapes of a URL's text; returns the text as it is if they are malformed. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
