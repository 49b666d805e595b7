const plain = /^[A-Za-z_][A-Za-z0-9_]*$/;
const other = /[^A-Za-z0-9_]/gu;

/** Makes a label name of a key: other characters become `_`, a digit in front gets one before it. Empty for a blank key. */
export function labelName(key: string): string {
  if (plain.test(key)) return key;
  const name = innerLabelName(key);
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

/** The same for a key that stands behind others in a name. */
export function innerLabelName(key: string): string {
  return key.trim().replace(other, '_');
}
