/** Maximum length of a chain of causes. Chains may be cyclic. */
const mostCauses = 16;

/** The chain of an error's causes, the nearest first. It ends at a cause that is no Error, at a repeated one, and after 16. */
export function causesOf(error: Error): readonly Error[] {
  const seen = new Set<Error>([error]);
  let { cause } = error;
  while (cause instanceof Error && !seen.has(cause) && seen.size <= mostCauses) {
    seen.add(cause);
    ({ cause } = cause);
  }
  return [...seen].slice(1);
}
