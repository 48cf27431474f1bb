/** Name of the result schema; separate from the schema, which takes time to load. */

export const SCHEMA_NAME = 'dragstrip-result';
