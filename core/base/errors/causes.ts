/** Maximum length of a chain of causes. Chains may be cyclic. */
const mostCauses = 16;

/** The causes of an error, nearest first: at most 16, up to a cause that is not an Error or repeats. */
export function causesOf(error: Error): readonly Error[] {
  const seen = new Set<Error>([error]);
  let { cause } = error;
  while (cause instanceof Error && !seen.has(cause) && seen.size <= mostCauses) {
    seen.add(cause);
    ({ cause } = cause);
  }
  return [...seen].slice(1);
}
