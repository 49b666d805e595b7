const plain = /^[A-Za-z_][A-Za-z0-9_]*$/;
const other = /[^A-Za-z0-9_]/gu;

/** Converts a key to a label name: other characters become `_`, and a leading digit is prefixed by `_`. Empty for a blank key. */
export function labelName(key: string): string {
  if (plain.test(key)) return key;
  const name = innerLabelName(key);
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

/** The same for a key inside a name. */
export function innerLabelName(key: string): string {
  return key.trim().replace(other, '_');
}
