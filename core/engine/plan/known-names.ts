import type { StoredNames } from '../../victoria/names/stored-names.js';

/** The names that rows are stored with, as far as they are known. */
export type KnownNames = Pick<
  StoredNames,
  'fields' | 'fieldsOf' | 'sureFieldsOf' | 'parsedFieldsOf' | 'unknownFromNs'
>;

/** Assumed where the backend has not been asked: every name is stored as it is written. */
export const namesAsWritten: KnownNames = {
  unknownFromNs: undefined,
  fields: undefined,
  fieldsOf: (name) => [name],
  sureFieldsOf: (name) => [name],
  parsedFieldsOf: (name) => [name],
};
