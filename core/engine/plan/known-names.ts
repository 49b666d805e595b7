import type { StoredNames } from '../../victoria/names/stored-names.js';

/** What is known of the names that rows are stored with. */
export type KnownNames = Pick<
  StoredNames,
  'fields' | 'fieldsOf' | 'sureFieldsOf' | 'parsedFieldsOf' | 'unknownFromNs'
>;

/** What is taken for known where nobody has asked the backend: every name is stored as it is written. */
export const namesAsWritten: KnownNames = {
  unknownFromNs: undefined,
  fields: undefined,
  fieldsOf: (name) => [name],
  sureFieldsOf: (name) => [name],
  parsedFieldsOf: (name) => [name],
};
