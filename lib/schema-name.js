/** What a result document calls itself; apart from the schema, which takes time to load. */

export const SCHEMA_NAME = 'dragstrip-result';
