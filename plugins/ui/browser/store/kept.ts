/** Stores a value in the browser, if possible. */
export function keep(key: string, value: object): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // The store is full or not permitted: the value is kept while the page is open.
  }
}
