import { badRequest } from './errors.js';

/** Request parameters of the form body (first) and the query string; a name may be repeated. */
export class Args {
  readonly #params: readonly URLSearchParams[];

  constructor(...params: readonly URLSearchParams[]) {
    this.#params = params;
  }

  /** The first value, `''` if absent. */
  get(name: string): string {
    for (const params of this.#params) {
      const value = params.get(name);
      if (value !== null) return value;
    }
    return '';
  }

  /** All values that are not empty. */
  all(name: string): string[] {
    return this.#params.flatMap((params) => params.getAll(name)).filter((value) => value !== '');
  }

  /** A non-negative integer, or `fallback` if absent; otherwise HTTP 400. */
  count(name: string, fallback = 0): number {
    const text = this.get(name);
    if (text === '') return fallback;
    if (!/^[-+]?\d{1,18}$/.test(text)) {
      throw badRequest(
        `cannot parse integer ${JSON.stringify(name)}=${JSON.stringify(text)}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
      );
    }
    const value = Number(text);
    if (value < 0) throw badRequest(`${JSON.stringify(name)} cannot be smaller than 0; got ${value}`);
    return value;
  }

  /** A boolean as parsed by Go's `strconv.ParseBool`; false if absent, HTTP 400 if invalid. */
  bool(name: string): boolean {
    const text = this.get(name);
    if (text === '') return false;
    if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
    if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
    throw badRequest(
      `cannot parse ${name}=${JSON.stringify(text)} as bool: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }

  /** A comma-separated list. */
  list(name: string): string[] {
    return this.get(name)
      .split(',')
      .filter((item) => item !== '');
  }
}
