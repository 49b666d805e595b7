import { trimSpace } from '../template/strings/characters.js';

const plain = /^[A-Za-z_][A-Za-z0-9_]*$/;
const other = /[^A-Za-z0-9_]/gu;

/** Converts a key to a label name: other characters become `_`, and a leading digit is prefixed by `_`. Empty for a blank key. */
export function labelName(key: string): string {
  if (plain.test(key)) return key;
  const name = trimSpace(key).replace(other, '_');
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

/** The name for a key inside an object whose keys so far have given `prefix`; blank keys add nothing to it. */
export function nestedLabelName(prefix: string, key: string): string {
  if (prefix === '') return labelName(key);
  const inner = trimSpace(key);
  return inner === '' ? prefix : `${prefix}_${inner.replace(other, '_')}`;
}
